// Audio of a client that waits for its turn on the line, in frames of 20 ms, with marks between them. Pure.
import { FRAME_BYTES } from '#shared/voice/media.ts';

/** Marks that wait; a client that sets more than this loses the oldest. */
const MARKS_MAX = 1_000;

interface Mark {
  name: string;
  /** Number of the frame behind it. */
  at: number;
}

/** A first-in first-out queue of a bounded length. Frames are numbered from 0 as they come in. */
export class PlayoutQueue {
  readonly #framesMax: number;
  /** From `#first` on; what is before is gone, and cut off now and then. */
  #frames: Uint8Array[] = [];
  #first = 0;
  /** Number of the frame at `#first`. */
  #head = 0;
  /** Samples behind the last frame that do not fill one yet. */
  #rest: Uint8Array | undefined;
  #restBytes = 0;
  #marks: Mark[] = [];

  /** `framesMax`: what it holds at most; more lets the oldest frames fall out. */
  constructor(framesMax: number) {
    this.#framesMax = framesMax;
  }

  /** Whole frames that wait. */
  get length(): number {
    return this.#frames.length - this.#first;
  }

  /** Whether there is a beginning of a frame behind the whole ones. */
  get hasRest(): boolean {
    return this.#restBytes > 0;
  }

  /** Takes audio of any length; keeps views into it. Returns how many old frames had to make room. */
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

  /** Lets the oldest frames fall out, down to `framesMax`. Returns how many. */
  cut(framesMax: number): number {
    const dropped = Math.max(0, this.length - framesMax);
    this.#skip(dropped);
    return dropped;
  }

  /** The next frame; undefined when no whole one waits. */
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

  /** Sets a mark behind all that is in the queue. */
  mark(name: string): void {
    this.#marks.push({ name, at: this.#head + this.length + (this.hasRest ? 1 : 0) });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** Marks that have nothing in front of them any more, in their order. */
  takeMarks(): string[] {
    if (this.#marks.length === 0) return NONE;
    const reached = this.#marks.findIndex(({ at }) => at > this.#head);
    return this.#marks.splice(0, reached < 0 ? this.#marks.length : reached).map(({ name }) => name);
  }

  /** Empties it. Returns the frames that were in it, a begun one counts, and the names of the marks. */
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
/** In place of frames that are gone, so that their memory is. */
const EMPTY = new Uint8Array(0);
