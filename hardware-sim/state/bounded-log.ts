// The last entries of an endless sequence, found by their id.

/** Keeps the newest `max` entries; ids must ascend. All operations cost the same however long it is. */
export class BoundedLog<T extends { readonly id: number }> {
  readonly #max: number;
  #entries: T[] = [];
  /** Entries in front of this one are dropped, but still there. */
  #start = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#entries.length - this.#start;
  }

  push(entry: T): void {
    this.#entries.push(entry);
    if (this.size > this.#max) this.#start += 1;
    // Throwing away half of the array at a time keeps the cost of one entry the same.
    if (this.#start <= this.#max) return;
    this.#entries = this.#entries.slice(this.#start);
    this.#start = 0;
  }

  /** Oldest first. */
  values(): T[] {
    return this.#entries.slice(this.#start);
  }

  /** Entries with a greater id, oldest first, at most `limit`. */
  after(id: number, limit = Number.POSITIVE_INFINITY): T[] {
    let low = this.#start;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.id ?? 0) > id) high = middle;
      else low = middle + 1;
    }
    return this.#entries.slice(low, Math.min(this.#entries.length, low + limit));
  }
}
