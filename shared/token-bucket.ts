// A token bucket: a burst at once, then a rate per second.
import type { Clock } from './clock.ts';

export class TokenBucket {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #filledAtMs: number;

  constructor(clock: Clock, { burst, perSecond }: { burst: number; perSecond: number }) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
    this.#filledAtMs = clock.now();
  }

  /** Takes the cost if there is enough; else nothing, and returns false. */
  tryTake(cost = 1): boolean {
    this.#fill();
    if (this.#left < cost) return false;
    this.#left -= cost;
    return true;
  }

  /** Takes the cost in any case, as a debt if there is not enough. Returns the ms until that is paid; 0 if there is none. */
  charge(cost = 1): number {
    this.#fill();
    this.#left -= cost;
    return this.#debtMs();
  }

  /** Until the debt is paid. */
  get debtMs(): number {
    this.#fill();
    return this.#debtMs();
  }

  #debtMs(): number {
    return Math.ceil((Math.max(0, -this.#left) / this.#perSecond) * 1_000);
  }

  #fill(): void {
    const nowMs = this.#clock.now();
    const passedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#filledAtMs = nowMs;
    this.#left = Math.min(this.#burst, this.#left + (passedMs * this.#perSecond) / 1_000);
  }
}
