// Runs work one after the other for each key, and that of different keys side by side.

export class KeyedQueue {
  /** The end of the last work of each key, whether it succeeded or not. */
  readonly #ends = new Map<string, Promise<void>>();
  #size = 0;

  /** Work that has not ended. Callers limit it. */
  get size(): number {
    return this.#size;
  }

  /** Runs `work` after the earlier work of `key`. Settles as `work` does. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.#size += 1;
    const result = (this.#ends.get(key) ?? Promise.resolve()).then(work);
    const forget = (): void => {
      this.#size -= 1;
      if (this.#ends.get(key) === end) this.#ends.delete(key);
    };
    const end = result.then(forget, forget);
    this.#ends.set(key, end);
    return result;
  }

  /** Resolves when all present work has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#ends.values());
  }
}
