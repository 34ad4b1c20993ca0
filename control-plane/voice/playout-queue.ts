// Audio of a client that waits for the line, in 20 ms frames, with marks between them. Pure.
import { FRAME_BYTES } from '#shared/voice/media.ts';

/** Waiting marks; a client that sets more loses the oldest. */
const MARKS_MAX = 1_000;

/** Replaces removed frames, so that their memory is freed. */
const EMPTY = new Uint8Array(0);

interface Mark {
  name: string;
  /** Number of the frame after it. */
  at: number;
}

/** Twenty frames: audio is copied, so that what waits never keeps a whole message of the client in memory. */
const SLAB_BYTES = 20 * FRAME_BYTES;

/** A bounded first-in first-out queue. Frames are numbered from 0 in the order of arrival. */
export class PlayoutQueue {
  readonly #framesMax: number;
  /** Used from `#first` on. Older entries are cut off now and then. */
  #frames: Uint8Array[] = [];
  #first = 0;
  /** Number of the frame at `#first`. */
  #head = 0;
  /** Where the newest audio is: complete frames below `#begun`, and a part of one up to `#end`. */
  #slab: Uint8Array = EMPTY;
  #begun = SLAB_BYTES;
  #end = SLAB_BYTES;
  #marks: Mark[] = [];

  /** `framesMax`: its capacity; further frames drop the oldest. */
  constructor(framesMax: number) {
    this.#framesMax = framesMax;
  }

  /** Number of complete frames. */
  get length(): number {
    return this.#frames.length - this.#first;
  }

  /** Whether there is an incomplete frame after the complete ones. */
  get hasRest(): boolean {
    return this.#end > this.#begun;
  }

  /** Adds a copy of audio of any length. Returns how many old frames were dropped. */
  push(audio: Uint8Array): number {
    for (let at = 0; at < audio.length; ) {
      if (this.#end === SLAB_BYTES) {
        this.#slab = new Uint8Array(SLAB_BYTES);
        this.#begun = 0;
        this.#end = 0;
      }
      const part = audio.subarray(at, at + SLAB_BYTES - this.#end);
      this.#slab.set(part, this.#end);
      this.#end += part.length;
      at += part.length;
      while (this.#end - this.#begun >= FRAME_BYTES) this.#completeFrame();
    }
    return this.cut(this.#framesMax);
  }

  /** Drops the oldest frames until `framesMax` are left. Returns how many. */
  cut(framesMax: number): number {
    const dropped = Math.max(0, this.length - framesMax);
    this.#skip(dropped);
    return dropped;
  }

  /** The next complete frame; undefined if there is none. */
  shift(): Uint8Array | undefined {
    const frame = this.#frames[this.#first];
    if (frame !== undefined) this.#skip(1);
    return frame;
  }

  /** Fills the last frame with silence, so that it can be played. */
  pad(): void {
    if (!this.hasRest) return;
    // Nothing was written behind the rest: it is silence.
    this.#end = this.#begun + FRAME_BYTES;
    this.#completeFrame();
  }

  /** Sets a mark after everything in the queue. */
  mark(name: string): void {
    this.#marks.push({ name, at: this.#head + this.length + (this.hasRest ? 1 : 0) });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** Returns and removes the marks without frames before them, in their order. */
  takeMarks(): string[] {
    if (this.#marks.length === 0) return NONE;
    const reached = this.#marks.findIndex(({ at }) => at > this.#head);
    return this.#marks.splice(0, reached < 0 ? this.#marks.length : reached).map(({ name }) => name);
  }

  /** Empties it. Returns how many frames were in it, including an incomplete one, and the names of the marks. */
  clear(): { frames: number; marks: string[] } {
    const frames = this.length + (this.hasRest ? 1 : 0);
    const marks = this.#marks.map(({ name }) => name);
    this.#head += frames;
    this.#frames = [];
    this.#first = 0;
    this.#slab = EMPTY;
    this.#begun = SLAB_BYTES;
    this.#end = SLAB_BYTES;
    this.#marks = [];
    return { frames, marks };
  }

  #completeFrame(): void {
    this.#frames.push(this.#slab.subarray(this.#begun, this.#begun + FRAME_BYTES));
    this.#begun += FRAME_BYTES;
  }

  #skip(count: number): void {
    if (count === 0) return;
    this.#frames.fill(EMPTY, this.#first, this.#first + count);
    this.#first += count;
    this.#head += count;
    if (this.#first === this.#frames.length || this.#first > this.#framesMax) {
      this.#frames = this.#frames.slice(this.#first);
      this.#first = 0;
    }
  }
}

const NONE: string[] = [];
