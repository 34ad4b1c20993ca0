// The operations of a chain that settlement needs: simulate, broadcast, read results.
import {
  type Address,
  createPublicClient,
  domainSeparator,
  type Hex,
  type PublicClient,
  TransactionReceiptNotFoundError,
} from 'viem';
import { type Clock, systemClock } from '#shared/clock.ts';
import type { AuthorizedTransfer, TransferAuthorization } from '../../domain/transfer-authorization.ts';
import { accountSignatures } from './account-signature.ts';
import { authorizationUses } from './authorization-use.ts';
import { BlockWatch } from './block-watch.ts';
import { blocksOf } from './blocks.ts';
import { presentedUses } from './presented-uses.ts';
import { type RpcOptions, rpcOf } from './rpc.ts';
import { simulate } from './simulation.ts';
import { resultIn, TOKEN_ABI, type TransferResult } from './token-events.ts';

export interface ChainOptions extends RpcOptions {
  /** Addresses of the network's relayers, the present one first. Empty if a facilitator submits. */
  relayers?: readonly Address[];
  /** A block with this many blocks on top is final, for an RPC without a `safe` block. */
  safeDepthBlocks?: number | undefined;
  clock?: Clock;
}

export type Chain = ReturnType<typeof connectChain>;

/** Every method rejects when the RPC cannot be reached: that says nothing about the payment. */
export function connectChain({ relayers = [], safeDepthBlocks, clock = systemClock, ...rpc }: ChainOptions) {
  const { chainId } = rpc;
  const publicClient = createPublicClient({ ...rpcOf(rpc), cacheTime: 0 });
  const foreignCode = createPublicClient(rpcOf(rpc, { runsForeignCode: true }));
  const blocks = blocksOf(publicClient, safeDepthBlocks);
  const uses = authorizationUses(publicClient, { head: blocks.head, relayers });
  const [relayer] = relayers;
  return {
    chainId,
    ...blocks,
    ...uses,
    ...presentedUses({ clock, ...uses, ...blocks }),
    ...transferResults(publicClient),
    accounts: accountSignatures(chainId, { publicClient, foreignCode }),
    readAsset: (asset: Address) => readAsset(publicClient, { asset, chainId }),
    simulate: (authorization: TransferAuthorization) =>
      simulate({ publicClient, foreignCode, relayer, ...uses }, authorization),
    /** Number of the account's transactions that are in a block. */
    minedNonceOf: (address: Address): Promise<number> =>
      publicClient.getTransactionCount({ address, blockTag: 'latest' }),
    /** The same, with those that wait to be mined. */
    nextNonceOf: (address: Address): Promise<number> =>
      publicClient.getTransactionCount({ address, blockTag: 'pending' }),
    broadcast: (raw: Hex): Promise<Hex> => publicClient.sendRawTransaction({ serializedTransaction: raw }),
  };
}

/** Throws if the token's domain separator does not match its name and version, or if the RPC serves another chain. */
async function readAsset(
  publicClient: PublicClient,
  { asset, chainId: wanted }: { asset: Address; chainId: number },
): Promise<{ name: string; version: string; decimals: number }> {
  const chainId = await publicClient.getChainId();
  if (chainId !== wanted) {
    throw new Error(`the RPC serves chain ${chainId}, not ${wanted}`);
  }
  const token = { address: asset, abi: TOKEN_ABI } as const;
  const [name, version, decimals, separator] = await Promise.all([
    publicClient.readContract({ ...token, functionName: 'name' }),
    publicClient.readContract({ ...token, functionName: 'version' }),
    publicClient.readContract({ ...token, functionName: 'decimals' }),
    publicClient.readContract({ ...token, functionName: 'DOMAIN_SEPARATOR' }),
  ]);
  const expected = domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } });
  if (separator !== expected) {
    throw new Error(
      `its domain separator ${separator} is not that of "${name}" version "${version}": ${expected}`,
    );
  }
  return { name, version, decimals };
}

function transferResults(publicClient: PublicClient) {
  const watch = new BlockWatch(publicClient);

  async function resultOf(authorization: AuthorizedTransfer, hash: Hex): Promise<TransferResult> {
    try {
      const receipt = await publicClient.getTransactionReceipt({ hash });
      return resultIn(receipt, authorization, hash);
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return { kind: 'unknown' };
      throw error;
    }
  }

  /** The result once the transaction is mined; `unknown` after the timeout, which is so when another transaction replaces it. */
  async function awaitResult(
    authorization: TransferAuthorization,
    hash: Hex,
    timeoutMs: number,
  ): Promise<TransferResult> {
    const ask = async (): Promise<TransferResult | undefined> => {
      const result = await resultOf(authorization, hash);
      return result.kind === 'unknown' ? undefined : result;
    };
    return (await watch.until(hash, ask, timeoutMs)) ?? { kind: 'unknown' };
  }

  return { resultOf, awaitResult };
}
