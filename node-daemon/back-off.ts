// How long to wait before the next attempt: quick once, then longer and longer, never in step with others.

/** Bounds of the waits, in ms. */
export interface BackOffLimits {
  /** The first wait is between these, so that a short interruption is short. */
  readonly firstMinMs: number;
  readonly firstMaxMs: number;
  /** No wait is longer. */
  readonly capMs: number;
}

/** The waits of one thing that is tried again. */
export class BackOff {
  readonly #limits: BackOffLimits;
  readonly #random: () => number;
  #attempts = 0;

  constructor(limits: BackOffLimits, random: () => number = Math.random) {
    this.#limits = limits;
    this.#random = random;
  }

  /** The wait before the next attempt, in ms: doubled each time, the upper half of it by chance. */
  next(): number {
    const { firstMinMs, firstMaxMs, capMs } = this.#limits;
    const attempt = this.#attempts;
    this.#attempts += 1;
    if (attempt === 0) return firstMinMs + this.#random() * (firstMaxMs - firstMinMs);
    const wholeMs = Math.min(capMs, firstMaxMs * 2 ** Math.min(attempt, 30));
    return wholeMs * (0.5 + this.#random() / 2);
  }

  /** The thing works: the next wait is a first one again. */
  reset(): void {
    this.#attempts = 0;
  }
}
