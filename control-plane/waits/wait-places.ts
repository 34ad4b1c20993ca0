// Bounds the tool calls of a token that wait at a time, for a text or for a call.
import { KeyedCount } from '#shared/keyed-count.ts';
import { Refusal } from '../domain/refusal.ts';
import { emitMetric } from '../metrics/metric-events.ts';

/** Retry time for a caller with too many waits. */
const RETRY_AFTER_SECONDS = 5;

export class WaitPlaces {
  readonly #max: number;
  /** Waits per token. */
  readonly #taken = new KeyedCount();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the function that gives the place back, to be called once. Throws `Refusal` `rate_limited`. */
  take(key: string): () => void {
    if (this.#taken.of(key) >= this.#max) {
      emitMetric({ kind: 'rate_limited', limit: 'waits' });
      throw new Refusal(
        'rate_limited',
        `A token can have at most ${this.#max} waiting calls of receive_sms, wait_for_code and wait_for_call.`,
        { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
      );
    }
    return this.#taken.take(key);
  }
}
