// How viem reaches a chain: its time-outs, its errors without the key of the provider, its search through old blocks.
import {
  BaseError,
  defineChain,
  HttpRequestError,
  http,
  type PublicClient,
  RpcRequestError,
  TimeoutError,
} from 'viem';
import { sleep, systemClock } from '#shared/clock.ts';

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
    fetchFn: (_shown, init) => fetchWithReconnect(rpcUrl, init),
  });
  return { chain, transport };
}

/** A connection that breaks is made anew so often, after these pauses. viem does all of it once more. */
const RECONNECT_PAUSES_MS = [25, 100, 300];

/**
 * `fetch`, of which a lost connection costs milliseconds: a broadcast that is lost costs a payer the wait for a block. What
 * took its whole time is not asked again, and an answer, whatever it says, is one.
 */
function fetchWithReconnect(
  url: string,
  init: RequestInit = {},
  [pauseMs, ...pausesMs]: readonly number[] = RECONNECT_PAUSES_MS,
): Promise<Response> {
  return fetch(url, init).catch((error: unknown) => {
    const { signal } = init;
    if (pauseMs === undefined || !(error instanceof TypeError) || signal?.aborted) throw error;
    return sleep(systemClock, pauseMs, signal ?? undefined).then(() =>
      fetchWithReconnect(url, init, pausesMs),
    );
  });
}

/** An RPC as it may be shown. */
export const shownRpc = (rpcUrl: string): string => new URL(rpcUrl).origin;

/** Whether an error says nothing but that the RPC gave no answer: the next call would meet the same. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null;

/**
 * Whether a node refused a transaction for what it is, and every node always will. What depends on fees, nonces, funds or the load of the node
 * is none of this: those may change.
 */
export const isInvalidTransaction = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof RpcRequestError) !== null &&
  /exceeds (the )?block gas limit|gas limit (is )?too high|intrinsic gas too (low|high)|exceeds maximum (transaction )?gas|max initcode|oversized data|transaction type not supported|invalid (chain id|sender)/i.test(
    error.details,
  );

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
