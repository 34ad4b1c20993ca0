// The operations of a chain that settlement needs: simulate, broadcast, read results.
import { type Address, createPublicClient, type Hex } from 'viem';
import type { TransferAuthorization } from '../../domain/transfer-authorization.ts';
import { accountSignatures } from './account-signature.ts';
import { readAsset } from './asset.ts';
import { authorizationUses } from './authorization-use.ts';
import { blocksOf } from './blocks.ts';
import { type RpcOptions, rpcOf } from './rpc.ts';
import { simulate } from './simulation.ts';
import { transferResults } from './transfer-results.ts';

export interface ChainOptions extends RpcOptions {
  /** Address of the relayer, if the network has one. */
  relayer?: Address | undefined;
  /** A block with so many blocks on top is final, for an RPC without a `safe` block. */
  safeDepthBlocks?: number | undefined;
}

export type Chain = ReturnType<typeof connectChain>;

/** Every method rejects when the RPC cannot be reached: that says nothing about the payment. */
export function connectChain({ relayer, safeDepthBlocks, ...rpc }: ChainOptions) {
  const { chainId } = rpc;
  const publicClient = createPublicClient({ ...rpcOf(rpc), cacheTime: 0 });
  const blocks = blocksOf(publicClient, safeDepthBlocks);
  const uses = authorizationUses(publicClient, { head: blocks.head, relayer });
  return {
    chainId,
    ...blocks,
    ...uses,
    ...transferResults(publicClient),
    accounts: accountSignatures(chainId, publicClient),
    readAsset: (asset: Address) => readAsset(publicClient, { asset, chainId }),
    simulate: (authorization: TransferAuthorization) =>
      simulate(publicClient, { relayer, ...uses }, authorization),
    broadcast: (raw: Hex): Promise<Hex> => publicClient.sendRawTransaction({ serializedTransaction: raw }),
  };
}
