// Connects viem to a chain: timeouts, errors without the provider's key, searches through old blocks.
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
import { startOfBody } from '#shared/response-body.ts';

/** The RPC of a chain. */
export interface RpcOptions {
  chainId: number;
  rpcUrl: string;
  /** Timeout of one call. */
  rpcTimeoutMs: number;
}

/** Blocks searched in one request; nodes reject wider ranges. A node that rejects this one gets smaller requests. */
const LOG_RANGE_BLOCKS = 9_000n;
const LOG_RANGE_BLOCKS_MIN = 100n;

/** Bytes of the answer to a call that runs a stranger's code: an honest account needs less than a thousand. viem's own limit is 10 MiB. */
const FOREIGN_ANSWER_BYTES_MAX = 64 * 1024;

/**
 * Options for viem's clients. `runsForeignCode`: strangers name the code that is called. An answer that is too long is its fault, and
 * counts as a revert.
 */
export function rpcOf({ chainId, rpcUrl, rpcTimeoutMs }: RpcOptions, { runsForeignCode = false } = {}) {
  const chain = defineChain({
    id: chainId,
    name: `eip155:${chainId}`,
    // Room for the base fee to rise while a transaction waits. The unused part is not paid.
    fees: { baseFeeMultiplier: 3 },
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [shownRpc(rpcUrl)] } },
  });
  // Providers put the customer's key into the path, and viem puts the URL into its errors.
  const transport = http(shownRpc(rpcUrl), {
    timeout: rpcTimeoutMs,
    retryCount: 1,
    fetchFn: async (_shown, init) => {
      const response = await fetchWithReconnect(rpcUrl, init);
      return runsForeignCode ? withoutLongData(response) : response;
    },
  });
  return { chain, transport };
}

/** The response, or a revert if it is too long: viem takes tens of milliseconds for the error of a megabyte, and repeats the call. */
async function withoutLongData(response: Response): Promise<Response> {
  const { text, isWhole } = await startOfBody(response, FOREIGN_ANSWER_BYTES_MAX);
  if (isWhole) {
    const { headers, status, statusText } = response;
    const type = headers.get('Content-Type') ?? '';
    return new Response(text, { status, statusText, headers: { 'Content-Type': type } });
  }
  // A page of a proxy says nothing about the code.
  if (!text.trimStart().startsWith('{'))
    throw new Error('the RPC responded with a long text that is no JSON');
  return Response.json({
    jsonrpc: '2.0',
    error: { code: EXECUTION_REVERTED, message: `execution reverted with more than ${text.length} bytes` },
  });
}

/** The code of geth and of those who follow it. */
const EXECUTION_REVERTED = 3;

/** Pauses before the attempts to reconnect. viem then repeats all of it once. */
const RECONNECT_PAUSES_MS = [25, 100, 300];

/**
 * A `fetch` that reconnects within milliseconds when a connection is lost: otherwise a lost broadcast delays the payer by a block. It does
 * not repeat a request that timed out, or that got any response.
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

/** The URL of an RPC without secrets. */
export const shownRpc = (rpcUrl: string): string => new URL(rpcUrl).origin;

/** Whether an error means only that the RPC did not respond: the next call would fail in the same way. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null;

/** Whether the RPC ran the code of a call and the code failed. */
export const isFailedExecution = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (cause) =>
      cause instanceof RpcRequestError &&
      (cause.code === EXECUTION_REVERTED || FAILED_EXECUTION.test(cause.details)),
  ) !== null;

/** Messages of geth; reth and anvil name all ends but a revert "EVM error". */
const FAILED_EXECUTION =
  /revert|out of gas|invalid opcode|invalid jump|stack (under|over)flow|gas required exceeds|EVM error/i;

/**
 * Whether a node rejected a transaction that every node will always reject. Rejections because of fees, nonces, funds or load do not count:
 * those may change.
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
