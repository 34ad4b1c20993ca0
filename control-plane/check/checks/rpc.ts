// Checks of an RPC: does it serve the chain, is it up to date, and does the clock of this host agree with it?
import * as z from 'zod';
import { jsonOf } from '#shared/json.ts';
import { isLoopback } from '#shared/loopback.ts';
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { shownRpc } from '../../payments/chain/rpc.ts';
import { CALL_TIMEOUT_MS } from './check.ts';
import { askHttp, failureAdvice } from './http-answer.ts';

const quantity = z.string().regex(/^0x[0-9a-f]{1,16}$/i);
const chainIdSchema = z.object({ result: quantity });
const blockSchema = z.object({ result: z.object({ number: quantity, timestamp: quantity }) });
const errorSchema = z.object({ error: z.object({ message: z.string() }) });

type SeenRpc =
  | {
      readonly chainId: number;
      readonly block: number;
      /** This host's time minus that of the newest block, in ms. */
      readonly blockAgeMs: number;
      /** Time of the RPC's server minus this host's, in ms; undefined if it sent none. */
      readonly clockDifferenceMs: number | undefined;
    }
  | { readonly error: string };

/** Never rejects. */
export async function readRpc(rpcUrl: string): Promise<SeenRpc> {
  const chain = await call(rpcUrl, 'eth_chainId', [], chainIdSchema);
  if ('error' in chain) return chain;
  const newest = await call(rpcUrl, 'eth_getBlockByNumber', ['latest', false], blockSchema);
  if ('error' in newest) return newest;
  const { number, timestamp } = newest.value.result;
  return {
    chainId: Number(chain.value.result),
    block: Number(number),
    blockAgeMs: Date.now() - Number(timestamp) * 1000,
    clockDifferenceMs: newest.clockDifferenceMs,
  };
}

async function call<T>(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
  schema: z.ZodType<T>,
): Promise<{ value: T; clockDifferenceMs: number | undefined } | { error: string }> {
  const answer = await askHttp(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  }).catch(() => ({ error: `no answer in ${CALL_TIMEOUT_MS / 1000} s` }));
  if ('error' in answer) return answer;
  const json = jsonOf(answer.text);
  const parsed = schema.safeParse(json);
  if (parsed.success) return { value: parsed.data, clockDifferenceMs: answer.clockDifferenceMs };
  const reported = errorSchema.safeParse(json).data?.error.message ?? 'not an answer of an RPC';
  return { error: `HTTP ${answer.status} to ${method}: ${reported}` };
}

/** Blocks come every 2 s. */
const BLOCK_AGE_MAX_MS = 60_000;

export function judgeRpc(seen: SeenRpc, { rpcUrl, chainId }: { rpcUrl: string; chainId: number }): Outcome {
  const at = shownRpc(rpcUrl);
  if ('error' in seen)
    return problem(
      `${at}: ${seen.error}`,
      seen.error.startsWith('HTTP')
        ? 'Check the path and the key in the URL of the RPC, and the quota at its provider.'
        : failureAdvice(seen.error, new URL(rpcUrl).host),
    );
  if (seen.chainId !== chainId)
    return problem(
      `${at} serves chain ${seen.chainId}, not ${chainId}`,
      'Correct the URL of the RPC, or CHAIN_ID. The service does not start with them.',
    );
  const answers = `${at} answers; newest block ${seen.block}`;
  if (seen.blockAgeMs > BLOCK_AGE_MAX_MS && isClockRight(seen, rpcUrl) !== false)
    return warning(
      `${answers} is ${Math.round(seen.blockAgeMs / 1000)} s old`,
      'The RPC lags, or the chain stands still. Until it catches up payments are not seen. Use another RPC if it lasts.',
    );
  if (rpcUrl.startsWith('http:') && !isLocal(rpcUrl))
    return warning(
      `${answers}, without TLS`,
      'A third party on the way can change its answers, and sees the key in its URL. Use https://.',
    );
  return ok(answers);
}

const isLocal = (url: string): boolean => isLoopback(new URL(url).hostname);

/** A payment is refused when its time seems over, and the messages between instances are refused sooner. */
const DIFFERENCE_MAX_MS = 5_000;
/** A block can be this old on the way through an RPC. */
const DELAY_MAX_MS = 15_000;

const ADVICE = 'Synchronize the clock with a time server: timedatectl set-ntp true';

type Answered = Exclude<SeenRpc, { error: string }>;

/** By the time of the RPC's server; undefined if that is no other clock. */
function isClockRight({ clockDifferenceMs }: Answered, rpcUrl: string): boolean | undefined {
  if (clockDifferenceMs === undefined || isLocal(rpcUrl)) return undefined;
  return Math.abs(clockDifferenceMs) <= DIFFERENCE_MAX_MS;
}

/** Compares the clock with the newest block, and with the time of the RPC's server unless that is this host. */
export function judgeClock(seen: SeenRpc, rpcUrl: string): Outcome {
  if ('error' in seen) return skipped('the RPC does not answer');
  const { blockAgeMs, clockDifferenceMs = 0 } = seen;
  const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1000)} s`;
  const isRight = isClockRight(seen, rpcUrl);
  if (isRight === false)
    return problem(
      `${seconds(clockDifferenceMs)} ${clockDifferenceMs > 0 ? 'behind' : 'ahead of'} the server of the RPC`,
      ADVICE,
    );
  if (blockAgeMs < -DIFFERENCE_MAX_MS)
    return problem(`${seconds(blockAgeMs)} behind the newest block`, ADVICE);
  if (isRight === true) return ok('agrees with the server of the RPC; not behind the newest block');
  if (blockAgeMs > DELAY_MAX_MS)
    return warning(
      `the newest block is ${seconds(blockAgeMs)} old: this clock is ahead, or the RPC lags`,
      `If "date -u" is wrong: ${ADVICE}`,
    );
  return ok(
    `agrees with the newest block to ${seconds(DELAY_MAX_MS)}; there was no other clock to compare it with`,
  );
}
