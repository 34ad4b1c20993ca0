// Limits the messages of a client on its stream: enough for any program, few enough to protect others.
import type { Clock } from '#shared/clock.ts';

/** A minute of 20 ms frames at once, and twenty times real time in the long run. */
const BURST = 3_000;
const PER_SECOND = 1_000;

/** A token bucket. */
export class MessageLimit {
  readonly #clock: Clock;
  #left = BURST;
  #filledAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#filledAtMs = clock.now();
  }

  /** Whether another message may come; `cost`: how many audio messages it counts for. */
  takes(cost = 1): boolean {
    if (this.#left < cost) this.#fill();
    if (this.#left < cost) return false;
    this.#left -= cost;
    return true;
  }

  #fill(): void {
    const nowMs = this.#clock.now();
    const passedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#filledAtMs = nowMs;
    this.#left = Math.min(BURST, this.#left + (passedMs * PER_SECOND) / 1_000);
  }
}
