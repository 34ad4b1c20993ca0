// Messages that were claimed but not returned yet. Each message can be claimed only once, so a filter must not drop any.
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';
import { sleep, systemClock } from '#shared/clock.ts';
import { type ApiError, isApiError, noAnswer } from './api-error.ts';

/** `body`, `from_number`, `to_number` (E.164), `id`, `message_id`, `created_at` and `received_at` (RFC 3339, UTC). */
export type InboundMessage = AnswerOf<typeof OPERATION.receive>['messages'][number];

const TIMEOUT_MS = 60_000;
const POLL_MS = 500;
const TRANSIENT = [
  'unreachable',
  'timeout',
  'rate_limited',
  'restarting',
  'overloaded',
  'unavailable',
  'internal_error',
];

export interface WaitOptions {
  /** Longest wait, one minute by default; 0 checks once. */
  timeoutMs?: number;
  /** Only a message from this sender, E.164. */
  from?: string | undefined;
  /** Only a message for which this returns true. */
  match?: ((message: InboundMessage) => boolean) | undefined;
  /** Interval between checks, 500 ms by default. */
  pollMs?: number;
  signal?: AbortSignal | undefined;
  /** Called with each error that is retried: the service restarts, or cannot be reached. */
  onTrouble?: (error: ApiError) => void;
}

export class ClaimedMessages {
  readonly #claim: () => Promise<readonly InboundMessage[]>;
  readonly #held: InboundMessage[] = [];
  #claiming: Promise<void> | undefined;

  constructor(claim: () => Promise<readonly InboundMessage[]>) {
    this.#claim = claim;
  }

  /** Returns and removes all held messages, oldest first, including those of a claim under way. */
  async takeAll(): Promise<InboundMessage[]> {
    await this.#claiming?.catch(() => undefined);
    return this.#held.splice(0);
  }

  /** The first message that fits. Throws `ApiError` `timeout`. Messages that arrive and do not fit are held. */
  async wait(options: WaitOptions): Promise<InboundMessage> {
    const { timeoutMs = TIMEOUT_MS, pollMs = POLL_MS, signal, onTrouble } = options;
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      let waitMs = pollMs;
      try {
        const found = this.#take(options) ?? (await this.#claimed(options));
        if (found !== undefined) return found;
      } catch (error) {
        if (!isApiError(error, ...TRANSIENT)) throw error;
        onTrouble?.(error);
        waitMs = Math.max(pollMs, (error.retryAfterSeconds ?? 0) * 1000);
      }
      if (Date.now() + waitMs > deadline) throw noAnswer('timeout', `no such message within ${timeoutMs} ms`);
      await sleep(systemClock, waitMs, signal);
    }
  }

  /** One claim serves all waits. A wait that is aborted does not abort the claim, whose messages would be lost. */
  async #claimed(options: WaitOptions): Promise<InboundMessage | undefined> {
    options.signal?.throwIfAborted();
    this.#claiming ??= this.#claim()
      .then((messages) => void this.#held.push(...messages))
      .finally(() => {
        this.#claiming = undefined;
      });
    await untilAborted(this.#claiming, options.signal);
    return this.#take(options);
  }

  #take({ from, match }: WaitOptions): InboundMessage | undefined {
    const index = this.#held.findIndex(
      (message) =>
        (from === undefined || message.from_number === from) && (match === undefined || match(message)),
    );
    return index < 0 ? undefined : this.#held.splice(index, 1)[0];
  }
}

async function untilAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  const given = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: given.signal });
  });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    given.abort();
  }
}
