// Limits the work of links that is under way. A fleet that connects at once leaves connections of the database to requests and facts.

export class LinkWork {
  readonly #atOnceMax: number;
  #underWay = 0;
  /** One for each link or upgrade at most, and both have a limit. */
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
