// Detects whether a loop hangs. A loop that makes no step for minutes, without waiting, never continues.

/** Counts the steps of one loop. */
export class Liveness {
  #turns = 0;
  #isWaiting = true;

  /** Grows with each step; `undefined` while the loop waits for an event that may never come. */
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
