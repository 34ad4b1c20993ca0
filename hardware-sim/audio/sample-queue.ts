// Samples on their way from one clock to another: first in, first out, with a bound; and between two modems.
import { NETWORK_FRAME_SAMPLES } from './frame.ts';

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

/** Fill level before the first frame comes out, and after a slip: 40 ms. */
const START_SAMPLES = 2 * NETWORK_FRAME_SAMPLES;
/** 120 ms. */
const SAMPLES_MAX = 6 * NETWORK_FRAME_SAMPLES;

export class Lane {
  readonly #queue = new SampleQueue(SAMPLES_MAX);
  #isFlowing = false;
  #slips = 0;

  /** Times that a frame was missing, or that there were too many. */
  get slips(): number {
    return this.#slips;
  }

  push(frame: Int16Array): void {
    if (this.#queue.room < frame.length) {
      // The other side is not there yet, or slower.
      if (this.#isFlowing) this.#slips += 1;
      this.#queue.drop(this.#queue.length + frame.length - START_SAMPLES);
    }
    this.#queue.push(frame);
  }

  /** A frame of the network, of silence when there is none. */
  take(): Int16Array {
    this.#isFlowing ||= this.#queue.length >= START_SAMPLES;
    if (this.#isFlowing && this.#queue.length >= NETWORK_FRAME_SAMPLES) {
      return this.#queue.take(NETWORK_FRAME_SAMPLES);
    }
    if (this.#isFlowing) this.#slips += 1;
    this.#isFlowing = false;
    return new Int16Array(NETWORK_FRAME_SAMPLES);
  }
}
