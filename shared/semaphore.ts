// Limits how much of one kind of work is under way at a time.

export class Semaphore {
  readonly #atOnceMax: number;
  #underWay = 0;
  /** It has no limit of its own: callers limit what may wait. */
  readonly #waiting: Array<() => void> = [];

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax;
  }

  /** Runs `work` when its turn comes: first come, first served. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underWay < this.#atOnceMax) this.#underWay += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The next one takes the place.
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }
}
