// How many messages a client may send over its stream: what a program that talks needs, far below what would hold others up.
import type { Clock } from '#shared/clock.ts';

/** A minute of frames of 20 ms at once, and twenty times real time for good. */
const BURST = 3_000;
const PER_SECOND = 1_000;

/** A bucket of tokens that fills with time. */
export class MessageLimit {
  readonly #clock: Clock;
  #left = BURST;
  #filledAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#filledAtMs = clock.now();
  }

  /** Whether another message may come; `cost`: how many messages of audio it counts for. */
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
