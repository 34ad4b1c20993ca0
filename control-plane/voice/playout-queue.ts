// Audio of a client that waits for the line, in 20 ms frames, with marks between them. Pure.
import { FRAME_BYTES } from '#shared/voice/media.ts';

/** Waiting marks; a client that sets more loses the oldest. */
const MARKS_MAX = 1_000;

interface Mark {
  name: string;
  /** Number of the frame after it. */
  at: number;
}

/** A bounded first-in first-out queue. Frames are numbered from 0 in the order of arrival. */
export class PlayoutQueue {
  readonly #framesMax: number;
  /** Used from `#first` on. Older entries are cut off now and then. */
  #frames: Uint8Array[] = [];
  #first = 0;
  /** Number of the frame at `#first`. */
  #head = 0;
  /** Samples after the last frame that do not fill a frame yet. */
  #rest: Uint8Array | undefined;
  #restBytes = 0;
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
    return this.#restBytes > 0;
  }

  /** Adds audio of any length; keeps views of it. Returns how many old frames were dropped. */
  push(audio: Uint8Array): number {
    let at = 0;
    if (this.#rest !== undefined && this.#restBytes > 0) {
      at = Math.min(FRAME_BYTES - this.#restBytes, audio.length);
      this.#rest.set(audio.subarray(0, at), this.#restBytes);
      this.#restBytes += at;
      if (this.#restBytes < FRAME_BYTES) return 0;
      this.#frames.push(this.#rest);
      this.#rest = undefined;
      this.#restBytes = 0;
    }
    for (; at + FRAME_BYTES <= audio.length; at += FRAME_BYTES)
      this.#frames.push(audio.subarray(at, at + FRAME_BYTES));
    if (at < audio.length) {
      this.#rest = new Uint8Array(FRAME_BYTES);
      this.#rest.set(audio.subarray(at));
      this.#restBytes = audio.length - at;
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
    if (this.#rest === undefined || this.#restBytes === 0) return;
    this.#frames.push(this.#rest);
    this.#rest = undefined;
    this.#restBytes = 0;
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
    this.#rest = undefined;
    this.#restBytes = 0;
    this.#marks = [];
    return { frames, marks };
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
/** Replaces removed frames, so that their memory is freed. */
const EMPTY = new Uint8Array(0);
