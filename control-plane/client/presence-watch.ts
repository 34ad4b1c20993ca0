// Watches a number's calls, through restarts and broken connections, until it is stopped or loses its permission.
import { presenceEventSchema } from '#shared/api/voice-frames.ts';
import { doubledMs } from '#shared/back-off.ts';
import { type Clock, sleep, systemClock } from '#shared/clock.ts';
import { jsonOf } from '#shared/json.ts';
import { PRESENCE_CLOSE } from '#shared/voice/close-code.ts';
import { ApiError } from './api-error.ts';
import type { PresenceEvent } from './api-types.ts';
import { closed, openSocket, textOf } from './socket.ts';

const FIRST_DELAY_MS = 250;
/** A call rings for about 25 s. */
const DELAY_MS_MAX = 10_000;

/** Errors that waiting does not solve. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404]);

/** Events already passed on: the service repeats them after a reconnect. */
const SEEN_MAX = 1_000;

export interface WatchOptions {
  onEvent: (event: PresenceEvent) => void;
  /** Connected; or the error, and the time until the next attempt. */
  onState?: (state: { connected: boolean; error?: ApiError; retryInMs?: number }) => void;
  signal?: AbortSignal | undefined;
  clock?: Clock;
  /** From 0 to 1: spreads the reconnects of many clients after a restart. */
  random?: () => number;
}

/**
 * Resolves when `signal` is aborted. Throws `ApiError` if the token or the number is not valid (any more). Calls that begin without a
 * connection are reported only while they ring; the list of calls has all.
 */
export async function watchPresence(
  { url, token }: { url: string; token: string },
  { onEvent, onState, signal, clock = systemClock, random = Math.random }: WatchOptions,
): Promise<void> {
  const seen = new Set<string>();
  const onMessage = (data: Uint8Array): void => {
    const event = eventOf(data);
    if (event === undefined) return;
    const key = `${event.kind} ${event.call_id}`;
    if (seen.has(key)) return;
    seen.add(key);
    const [oldest] = seen;
    if (seen.size > SEEN_MAX && oldest !== undefined) seen.delete(oldest);
    onEvent(event);
  };
  let failures = 0;
  while (!isAborted(signal)) {
    let error: ApiError;
    try {
      const socket = await openSocket({ url, token, signal, onMessage });
      const end = closed(socket);
      const stop = (): void => socket.close();
      signal?.addEventListener('abort', stop, { once: true });
      failures = 0;
      onState?.({ connected: true });
      const { code, reason } = await end;
      signal?.removeEventListener('abort', stop);
      error = closeError(code, reason);
    } catch (cause) {
      if (isAborted(signal)) return;
      if (!(cause instanceof ApiError)) throw cause;
      error = cause;
    }
    if (isAborted(signal)) return;
    if (FINAL_STATUSES.has(error.status)) throw error;
    const delayMs = delayOf(failures, random(), error.retryAfterSeconds);
    failures += 1;
    onState?.({ connected: false, error, retryInMs: delayMs });
    await sleep(clock, delayMs, signal).catch(() => undefined);
  }
}

// A function, because the compiler must not assume that the value stays the same across an await.
const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** Full jitter: any delay up to a limit that doubles. The delay that the service requests is added. */
function delayOf(failures: number, random: number, retryAfterSeconds = 0): number {
  const limit = doubledMs(FIRST_DELAY_MS, failures + 1, DELAY_MS_MAX);
  return Math.round(retryAfterSeconds * 1000 + random * limit);
}

function closeError(code: number, reason: string): ApiError {
  return code === PRESENCE_CLOSE.tokenEnded
    ? new ApiError({ status: 401, code: 'unauthorized', message: reason })
    : new ApiError({
        status: 0,
        code: 'unreachable',
        message: `lost the connection to the service (${[code, reason].filter(Boolean).join(' ')})`,
      });
}

const eventOf = (data: Uint8Array): PresenceEvent | undefined =>
  presenceEventSchema.safeParse(jsonOf(textOf(data))).data;
