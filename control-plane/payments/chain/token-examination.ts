// Examines a contract without a transaction: whether there is one, and whether it takes EIP-3009 authorizations.
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  parseAbi,
  zeroHash,
} from 'viem';
import { type RpcOptions, rpcOf } from './rpc.ts';
import { TOKEN_ABI } from './token-events.ts';

const SYMBOL_ABI = parseAbi(['function symbol() view returns (string)']);

/** An account without a known key. */
const KEYLESS: Address = '0x0000000000000000000000000000000000000001';

/** Whether there is a contract at `address`. Rejects when the RPC cannot be reached. */
export async function hasCode(rpc: RpcOptions, address: Address): Promise<boolean> {
  return (await createPublicClient(rpcOf(rpc)).getCode({ address })) !== undefined;
}

/** Rejects when the RPC cannot be reached, or if the contract has no symbol. */
export async function examineToken(
  rpc: RpcOptions,
  asset: Address,
): Promise<{ symbol: string; takesAuthorizations: boolean }> {
  const client = createPublicClient(rpcOf(rpc));
  const symbol = await client.readContract({ address: asset, abi: SYMBOL_ABI, functionName: 'symbol' });
  // It ended in 1970 and has no signature: a token that has the function says why it refuses it.
  const expired = [KEYLESS, KEYLESS, 0n, 0n, 1n, zeroHash, `0x${'00'.repeat(65)}`] as const;
  const takesAuthorizations = await client
    .simulateContract({
      address: asset,
      abi: TOKEN_ABI,
      functionName: 'transferWithAuthorization',
      args: expired,
      account: KEYLESS,
    })
    .then(
      () => false,
      (error: unknown) => {
        const reverted =
          error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
        if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
        return (reverted.raw ?? '0x') !== '0x' || reverted.reason !== undefined;
      },
    );
  return { symbol, takesAuthorizations };
}
