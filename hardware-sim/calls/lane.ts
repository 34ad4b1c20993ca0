// Voice from one modem to another, each of which has its own clock: a small buffer that slips when they drift apart.
import { NETWORK_FRAME_SAMPLES } from '../audio/frame.ts';
import { SampleQueue } from '../audio/sample-queue.ts';

/** Fill level before the first frame comes out, and after a slip: 40 ms. */
const START_SAMPLES = 2 * NETWORK_FRAME_SAMPLES;
/** 120 ms. */
const SAMPLES_MAX = 6 * NETWORK_FRAME_SAMPLES;

/** One direction. */
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
