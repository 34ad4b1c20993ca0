// A sign of life of a loop. A loop that stands still for minutes without waiting never goes on.

/** Counts the turns of one loop. */
export class Liveness {
  #turns = 0;
  #isWaiting = true;

  /** Grows as the loop goes on; `undefined` while it waits for something that may never come. */
  get steps(): number | undefined {
    return this.#isWaiting ? undefined : this.#turns;
  }

  readonly turn = (): void => {
    this.#turns += 1;
  };

  /** Waits for a promise that has no time limit. */
  async during<T>(wait: Promise<T>): Promise<T> {
    this.#isWaiting = true;
    const result = await wait;
    this.#isWaiting = false;
    this.turn();
    return result;
  }
}
