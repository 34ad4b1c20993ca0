// The relayers' last gas readings, for as long as they are recent.
import type { Clock } from '#shared/clock.ts';

/** It is read every minute. */
const FRESH_MS = 5 * 60_000;

export class GasReadings {
  readonly #clock: Clock;
  readonly #readings = new Map<number, { transfers: number; atMs: number }>();

  constructor(clock: Clock, chainIds: Iterable<number>) {
    this.#clock = clock;
    for (const chainId of chainIds)
      this.#readings.set(chainId, { transfers: 0, atMs: Number.NEGATIVE_INFINITY });
  }

  note(chainId: number, transfers: number): void {
    this.#readings.set(chainId, { transfers, atMs: this.#clock.now() });
  }

  /** Transfers by chain, undefined if the balance could not be read recently. */
  fresh(): Map<number, number | undefined> {
    const oldest = this.#clock.now() - FRESH_MS;
    return new Map(
      [...this.#readings].map(([chainId, { transfers, atMs }]) => [
        chainId,
        atMs >= oldest ? transfers : undefined,
      ]),
    );
  }
}
