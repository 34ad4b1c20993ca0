// Database readings, read once for all viewers, and again only when they may have changed.
import type { Clock } from '#shared/clock.ts';

export class Reading<T> {
  readonly #clock: Clock;
  readonly #load: () => Promise<T>;
  readonly #maxAgeMs: number;
  #value: Promise<T> | undefined;
  #readAt = 0;

  /** A value is used for `maxAgeMs`, unless `stale` is called before. */
  constructor(clock: Clock, maxAgeMs: number, load: () => Promise<T>) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
    this.#load = load;
  }

  /** The next caller causes a new read; earlier callers get the read that was under way. */
  stale(): void {
    this.#value = undefined;
  }

  get(): Promise<T> {
    const now = this.#clock.now();
    const age = now - this.#readAt;
    if (this.#value !== undefined && age >= 0 && age < this.#maxAgeMs) return this.#value;
    this.#readAt = now;
    const value = this.#load();
    this.#value = value;
    value.catch(() => {
      if (this.#value === value) this.#value = undefined;
    });
    return value;
  }
}
