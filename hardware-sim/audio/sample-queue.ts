// Samples on their way from one clock to another: first in, first out, with a bound.

/** A ring buffer. It does not accept samples beyond its capacity. */
export class SampleQueue {
  readonly #ring: Int16Array;
  #start = 0;
  #length = 0;

  constructor(samplesMax: number) {
    this.#ring = new Int16Array(samplesMax);
  }

  get length(): number {
    return this.#length;
  }

  get room(): number {
    return this.#ring.length - this.#length;
  }

  /** Returns how many samples it accepted. */
  push(samples: Int16Array): number {
    const taken = Math.min(this.room, samples.length);
    for (let index = 0; index < taken; index++) {
      this.#ring[(this.#start + this.#length + index) % this.#ring.length] = samples[index] ?? 0;
    }
    this.#length += taken;
    return taken;
  }

  /** As many as there are, at most `count`. */
  take(count: number): Int16Array {
    const taken = new Int16Array(Math.min(count, this.#length));
    for (let index = 0; index < taken.length; index++) {
      taken[index] = this.#ring[(this.#start + index) % this.#ring.length] ?? 0;
    }
    this.drop(taken.length);
    return taken;
  }

  /** Drops the oldest samples. */
  drop(count: number): void {
    const dropped = Math.min(count, this.#length);
    this.#start = (this.#start + dropped) % this.#ring.length;
    this.#length -= dropped;
  }
}
