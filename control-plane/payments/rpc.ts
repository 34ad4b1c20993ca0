// How viem reaches a chain: its time-outs, its errors without the key of the provider, its search through old blocks.
import { BaseError, defineChain, HttpRequestError, http, type PublicClient, TimeoutError } from 'viem';

/** Where a chain is asked. */
export interface RpcOptions {
  chainId: number;
  rpcUrl: string;
  /** Of one call. */
  rpcTimeoutMs: number;
}

/** Blocks searched in one request; nodes refuse wider ranges. Those that refuse this one are asked for less. */
const LOG_RANGE_BLOCKS = 9_000n;
const LOG_RANGE_BLOCKS_MIN = 100n;

/** What viem makes clients from. */
export function rpcOf({ chainId, rpcUrl, rpcTimeoutMs }: RpcOptions) {
  const chain = defineChain({
    id: chainId,
    name: `eip155:${chainId}`,
    // Room for the base fee to rise while a transaction waits; what is not needed is not paid.
    fees: { baseFeeMultiplier: 3 },
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [shownRpc(rpcUrl)] } },
  });
  // Providers put their customer's key into the path, and viem puts the URL into its errors.
  const transport = http(shownRpc(rpcUrl), {
    timeout: rpcTimeoutMs,
    retryCount: 1,
    fetchFn: (_shown, init) => fetch(rpcUrl, init),
  });
  return { chain, transport };
}

/** An RPC as it may be shown. */
export const shownRpc = (rpcUrl: string): string => new URL(rpcUrl).origin;

/** Whether an error says nothing but that the RPC gave no answer: the next call would meet the same. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null;

/** Searches `depthBlocks` back from the newest block, newest first. */
export async function searchBack<T>(
  client: Pick<PublicClient, 'getBlockNumber'>,
  depthBlocks: bigint,
  find: (range: { fromBlock: bigint; toBlock: bigint }) => Promise<T | undefined>,
): Promise<T | undefined> {
  const latest = await client.getBlockNumber({ cacheTime: 0 });
  const oldest = latest > depthBlocks ? latest - depthBlocks : 0n;
  let span = LOG_RANGE_BLOCKS;
  for (let toBlock = latest; toBlock >= oldest; ) {
    const from = toBlock - span + 1n;
    const fromBlock = from > oldest ? from : oldest;
    try {
      const found = await find({ fromBlock, toBlock });
      if (found !== undefined) return found;
      toBlock = fromBlock - 1n;
    } catch (error) {
      if (isUnreachable(error) || span <= LOG_RANGE_BLOCKS_MIN) throw error;
      span /= 4n;
    }
  }
  return undefined;
}
