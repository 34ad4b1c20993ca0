// Waits before the next attempt: short at first, then longer, with jitter.
import type { Random } from './random.ts';

/** Bounds of the waits, in ms. */
export interface BackOffLimits {
  /** The first wait is between these, so that a short interruption is short. */
  readonly firstMinMs: number;
  readonly firstMaxMs: number;
  /** No wait is longer. */
  readonly capMs: number;
}

/** `firstMs` for the first wait, doubled with each further one up to `capMs`. `count` is from 1. */
export const doubledMs = (firstMs: number, count: number, capMs: number): number =>
  Math.min(firstMs * 2 ** Math.min(count - 1, 30), capMs);

/**
 * The wait before an attempt, in ms. It doubles with each attempt, and its upper half is random. `attempt` counts
 * from 0, `random` is from 0 to 1.
 */
export function backOffMs(
  { firstMinMs, firstMaxMs, capMs }: BackOffLimits,
  attempt: number,
  random: number,
): number {
  if (attempt === 0) return firstMinMs + random * (firstMaxMs - firstMinMs);
  return doubledMs(firstMaxMs, attempt + 1, capMs) * (0.5 + random / 2);
}

/** The waits between the attempts of one task. */
export class BackOff {
  readonly #limits: BackOffLimits;
  readonly #random: Random;
  #attempts = 0;

  constructor(limits: BackOffLimits, random: Random) {
    this.#limits = limits;
    this.#random = random;
  }

  /** The wait before the next attempt, in ms. */
  next(): number {
    const attempt = this.#attempts;
    this.#attempts += 1;
    return backOffMs(this.#limits, attempt, this.#random());
  }

  /** The task succeeded: the next wait is a first one again. */
  reset(): void {
    this.#attempts = 0;
  }
}
