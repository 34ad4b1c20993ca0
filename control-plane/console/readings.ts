// What the database says, read once for all who look, and again only when it may have changed.
import type { Clock } from '#shared/clock.ts';

export class Reading<T> {
  readonly #clock: Clock;
  readonly #load: () => Promise<T>;
  readonly #maxAgeMs: number;
  #value: Promise<T> | undefined;
  #readAt = 0;

  /** What was read is believed for `maxAgeMs`, unless it is called stale before. */
  constructor(clock: Clock, maxAgeMs: number, load: () => Promise<T>) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
    this.#load = load;
  }

  /** The next who asks has it read anew; who asked before gets what was being read. */
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
