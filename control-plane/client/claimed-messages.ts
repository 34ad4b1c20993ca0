// Messages that were claimed but not returned yet. Each message can be claimed only once, so a filter must not drop any.
import { sleep, systemClock } from '#shared/clock.ts';
import { type ApiError, isApiError, noAnswer } from './api-error.ts';
import type { Answer } from './api-types.ts';

/** `body`, `from_number`, `to_number` (E.164), `id`, `message_id`, `created_at` and `received_at` (RFC 3339, UTC). */
export type InboundMessage = Answer<'receive'>['messages'][number];

const TIMEOUT_MS = 60_000;
const POLL_MS = 500;
/** The longest wait of a claim at the service. */
const WAIT_SECONDS_MAX = 50;
const TRANSIENT = [
  'unreachable',
  'timeout',
  'rate_limited',
  'restarting',
  'overloaded',
  'unavailable',
  'internal_error',
];

/** A 502, 503 or 504 may also be the page of a proxy before a service that restarts. */
const isTransient = (error: unknown): error is ApiError =>
  isApiError(error, ...TRANSIENT) || (isApiError(error) && error.status >= 502);

export interface WaitOptions {
  /** Longest wait, one minute by default; 0 checks once. */
  timeoutMs?: number;
  /** Only a message from this sender, E.164. */
  from?: string | undefined;
  /** Only a message for which this returns true. */
  match?: ((message: InboundMessage) => boolean) | undefined;
  /** Shortest time from one request to the next, 500 ms by default. A request that waits at the service answers as soon as a message comes. */
  pollMs?: number;
  signal?: AbortSignal | undefined;
  /** Called with each error that is retried: the service restarts, or cannot be reached. */
  onTrouble?: (error: ApiError) => void;
}

/**
 * Claims messages. If there are none, it waits for one, up to `waitSeconds`, or answers earlier without any. An abort ends the wait: a text
 * that was claimed at that moment is only in the history, if its answer was already on its way.
 */
type Claim = (waitSeconds: number, signal: AbortSignal) => Promise<readonly InboundMessage[]>;

/** A claim that several waits share. */
interface SharedClaim {
  /** Resolves once its messages are held. */
  done: Promise<void>;
  abort: AbortController;
  waits: number;
}

export class ClaimedMessages {
  readonly #claim: Claim;
  readonly #held: InboundMessage[] = [];
  #claiming: SharedClaim | undefined;
  /** Claims that no wait is left for: they may still bring messages. */
  readonly #left = new Set<Promise<void>>();

  constructor(claim: Claim) {
    this.#claim = claim;
  }

  /** Returns and removes all held messages, oldest first, including those of claims that their waits have left. */
  async takeAll(): Promise<InboundMessage[]> {
    await Promise.allSettled(this.#left);
    return this.#held.splice(0);
  }

  /** The first message that fits. Throws `ApiError` `timeout`. Messages that arrive and do not fit are held. */
  async wait(options: WaitOptions): Promise<InboundMessage> {
    const { timeoutMs = TIMEOUT_MS, pollMs = POLL_MS, signal, onTrouble } = options;
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const startedAt = Date.now();
      let pauseMs = pollMs;
      try {
        const found = this.#take(options) ?? (await this.#claimed(options, deadline));
        if (found !== undefined) return found;
      } catch (error) {
        if (!isTransient(error)) throw error;
        onTrouble?.(error);
        pauseMs = Math.max(pollMs, (error.retryAfterSeconds ?? 0) * 1000);
      }
      const waitMs = Math.max(0, startedAt + pauseMs - Date.now());
      if (Date.now() + waitMs >= deadline)
        throw noAnswer('timeout', `no such message within ${timeoutMs} ms`);
      await sleep(systemClock, waitMs, signal);
    }
  }

  /** One claim serves all waits. The last one that leaves it ends it. */
  async #claimed(options: WaitOptions, deadline: number): Promise<InboundMessage | undefined> {
    const { signal } = options;
    signal?.throwIfAborted();
    const leftMs = Math.max(0, deadline - Date.now());
    const joined = this.#claiming;
    const claim = joined ?? this.#begin(Math.floor(leftMs / 1_000));
    claim.waits += 1;
    try {
      // A claim of its own ends in time by itself.
      await (joined === undefined ? unlessAborted(claim.done, signal) : within(leftMs, claim.done, signal));
    } finally {
      claim.waits -= 1;
      if (claim.waits === 0) this.#leave(claim);
    }
    return this.#take(options);
  }

  #begin(waitSeconds: number): SharedClaim {
    const abort = new AbortController();
    const done = this.#claim(Math.min(waitSeconds, WAIT_SECONDS_MAX), abort.signal)
      .then((messages) => void this.#held.push(...messages))
      .finally(() => {
        if (this.#claiming === claim) this.#claiming = undefined;
        this.#left.delete(done);
      });
    const claim = { done, abort, waits: 0 };
    this.#claiming = claim;
    return claim;
  }

  #leave(claim: SharedClaim): void {
    if (this.#claiming !== claim) return;
    this.#claiming = undefined;
    this.#left.add(claim.done);
    claim.abort.abort();
  }

  #take({ from, match }: WaitOptions): InboundMessage | undefined {
    const index = this.#held.findIndex(
      (message) =>
        (from === undefined || message.from_number === from) && (match === undefined || match(message)),
    );
    return index < 0 ? undefined : this.#held.splice(index, 1)[0];
  }
}

/** Settles as `promise` does. Throws the reason of `signal`. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: settled.signal });
  });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    settled.abort();
  }
}

/** The same, but resolves after `ms`. */
async function within(ms: number, promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const settled = new AbortController();
  const late = sleep(systemClock, ms, settled.signal).catch(() => undefined);
  try {
    await unlessAborted(Promise.race([promise, late]), signal);
  } finally {
    settled.abort();
  }
}
