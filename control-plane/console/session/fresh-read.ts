// A read that many ask for at once: one at a time, and none is older than whoever gets it.
export class FreshRead<T> {
  readonly #read: () => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** What a read gives that begins now or later. Two reads serve all who ask while one is under way. */
  ask(): Promise<T> {
    if (this.#current === undefined) return this.#begin();
    this.#next ??= this.#current.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<T> {
    this.#next = undefined;
    const current = this.#read().finally(() => {
      if (this.#current === current) this.#current = undefined;
    });
    this.#current = current;
    return current;
  }
}
