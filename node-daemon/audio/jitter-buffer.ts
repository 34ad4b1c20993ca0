// Delays the client's audio a little on its way to the modem, so that audio that arrives unevenly plays evenly. Pure.
import { FRAME_SAMPLES } from '#shared/voice/media.ts';
import { accelerated, SKIP_SAMPLES_MAX, SKIP_SAMPLES_MIN, stretched } from './accelerate.ts';

/** 120 ms: the most that a clear discards, and the most that the network may be late. */
export const HELD_FRAMES_MAX = 6;

/** Frames to hold before playing begins: 40 ms cover 20 ms of jitter. Each late frame adds one, except a rare late frame. */
const TARGET_FRAMES_MIN = 2;
const TARGET_FRAMES_MAX = 5;
/** After this many frames without a late one (10 s), the target goes down by one, and the next late frame counts as rare. */
const CALM_FRAMES = 500;
/** A frame within this many frames after the last played one was late. A later frame starts new audio. */
const LATE_FRAMES_MAX = 5;
/** The least number of samples held during this many frames (1 s) shows how the two clocks differ. */
const WINDOW_FRAMES = 50;
/** Samples above or below the target that need no correction. */
const TOLERANCE_SAMPLES = FRAME_SAMPLES / 2;
/** For a late live source the least of this many frames (200 ms) decides, because more may wait in the queue. */
const CATCH_UP_WINDOW_FRAMES = 10;
/** Samples over which the last sample fades to silence, to avoid a click. */
const FADE_SAMPLES = 48;

export class JitterBuffer {
  /** Oldest first; the first is played from `#offset`. */
  readonly #frames: Int16Array[] = [];
  #offset = 0;
  #isPlaying = false;
  #waited = 0;
  #target = TARGET_FRAMES_MIN;
  #calm = CALM_FRAMES;
  #silent = Number.POSITIVE_INFINITY;
  #windowMin = Number.POSITIVE_INFINITY;
  #windowLeft = WINDOW_FRAMES;
  /** Samples by which each frame is stretched or compressed while the clocks differ. */
  #correction = 0;
  /** Samples to leave out of a live source that is late by more than a frame. */
  #surplus = 0;
  #isLive = false;
  #lastSample = 0;
  #played = 0;
  #late = 0;
  #dropped = 0;

  /** Number of frames that were played to their end or cleared. */
  get played(): number {
    return this.#played;
  }

  /** Number of times that playing stopped because a frame was late. */
  get late(): number {
    return this.#late;
  }

  /** Number of frames that came without a grant. */
  get dropped(): number {
    return this.#dropped;
  }

  get #held(): number {
    return this.#frames.length * FRAME_SAMPLES - this.#offset;
  }

  /** Takes one frame of 320 samples. `isLive`: its source is a live speaker, so every unnecessary wait is a delay. */
  push(frame: Int16Array, isLive = false): void {
    this.#isLive = isLive;
    if (this.#frames.length >= HELD_FRAMES_MAX) {
      this.#dropped += 1;
      this.#played += 1;
      return;
    }
    if (this.#frames.length === 0 && !this.#isPlaying && this.#silent <= LATE_FRAMES_MAX) {
      this.#late += 1;
      if (this.#calm < CALM_FRAMES) this.#target = Math.min(TARGET_FRAMES_MAX, this.#target + 1);
      this.#calm = 0;
    }
    this.#frames.push(frame);
  }

  /** Returns the next 320 samples for the modem: the client's audio, or a fade to silence. Returns undefined for plain silence. */
  pull(): Int16Array | undefined {
    if (!this.#isPlaying && !this.#begins()) return this.#silence();
    if (this.#held < FRAME_SAMPLES) {
      this.#isPlaying = false;
      if (this.#held === 0) {
        this.#silent = 0;
        return this.#silence();
      }
      return this.#rest();
    }
    this.#adapt();
    const caughtUp = this.#catchUp();
    if (caughtUp !== undefined) return caughtUp;
    // The interpolation needs one more sample on each side.
    const ahead = this.#held > FRAME_SAMPLES + this.#correction ? this.#correction : 0;
    const samples = this.#take(FRAME_SAMPLES + ahead);
    const frame = ahead === 0 ? samples : stretched(this.#lastSample, samples, this.#peek(2), FRAME_SAMPLES);
    this.#lastSample = samples.at(-1) ?? 0;
    return frame;
  }

  /** Discards the held frames. Returns their number. */
  clear(): number {
    const cleared = this.#frames.length;
    this.#frames.length = 0;
    this.#offset = 0;
    this.#played += cleared;
    this.#isPlaying = false;
    this.#silent = Number.POSITIVE_INFINITY;
    return cleared;
  }

  /** Returns whether enough frames are held, or the held ones have waited long enough. */
  #begins(): boolean {
    if (this.#frames.length === 0) return false;
    this.#waited += 1;
    if (this.#frames.length < this.#target && this.#waited < this.#target) return false;
    this.#waited = 0;
    this.#isPlaying = true;
    this.#beginWindow(WINDOW_FRAMES);
    this.#correction = 0;
    this.#surplus = 0;
    return true;
  }

  /** Adapts target and correction to the last second. */
  #adapt(): void {
    this.#calm += 1;
    if (this.#calm % CALM_FRAMES === 0) this.#target = Math.max(TARGET_FRAMES_MIN, this.#target - 1);
    this.#windowMin = Math.min(this.#windowMin, this.#held - FRAME_SAMPLES);
    this.#windowLeft -= 1;
    if (this.#windowLeft > 0) return;
    const surplus = this.#windowMin - (this.#target - 1) * FRAME_SAMPLES;
    // The buffer is full. More audio waits in the queue on purpose.
    const isAhead = !this.#isLive && this.#windowMin >= (HELD_FRAMES_MAX - 2) * FRAME_SAMPLES;
    this.#surplus = this.#isLive && surplus > FRAME_SAMPLES ? surplus : 0;
    if (isAhead || Math.abs(surplus) < TOLERANCE_SAMPLES / 4) this.#correction = 0;
    else if (surplus > TOLERANCE_SAMPLES) this.#correction = 1;
    else if (surplus < -TOLERANCE_SAMPLES) this.#correction = -1;
    this.#beginWindow(this.#surplus > 0 ? CATCH_UP_WINDOW_FRAMES : WINDOW_FRAMES);
  }

  #beginWindow(frames: number): void {
    this.#windowMin = Number.POSITIVE_INFINITY;
    this.#windowLeft = frames;
  }

  /** Returns a frame made of more samples, if there is a surplus and the listener will not hear it. */
  #catchUp(): Int16Array | undefined {
    const most = Math.min(this.#surplus, SKIP_SAMPLES_MAX, this.#held - FRAME_SAMPLES);
    if (most < SKIP_SAMPLES_MIN) return undefined;
    const faster = accelerated(this.#peek(FRAME_SAMPLES + most), FRAME_SAMPLES);
    if (faster === undefined) return undefined;
    const taken = this.#take(FRAME_SAMPLES + faster.skipped);
    this.#surplus -= faster.skipped;
    this.#lastSample = taken.at(-1) ?? 0;
    return faster.audio;
  }

  /** Returns the rest of the last frame, followed by silence. */
  #rest(): Int16Array {
    const rest = this.#take(this.#held);
    this.#lastSample = rest.at(-1) ?? 0;
    const frame = new Int16Array(FRAME_SAMPLES);
    frame.set(rest);
    fade(frame, rest.length, this.#lastSample);
    this.#lastSample = 0;
    this.#silent = 0;
    return frame;
  }

  #silence(): Int16Array | undefined {
    this.#silent += 1;
    if (this.#lastSample === 0) return undefined;
    const frame = new Int16Array(FRAME_SAMPLES);
    fade(frame, 0, this.#lastSample);
    this.#lastSample = 0;
    return frame;
  }

  /** Returns the next samples without removing them, or fewer if fewer are held. */
  #peek(length: number): Int16Array {
    const samples = new Int16Array(Math.min(length, this.#held));
    let offset = this.#offset;
    let at = 0;
    for (const frame of this.#frames) {
      if (at === samples.length) break;
      const part = frame.subarray(offset, offset + samples.length - at);
      samples.set(part, at);
      at += part.length;
      offset = 0;
    }
    return samples;
  }

  /** Removes and returns the next samples. All of them must be held. */
  #take(length: number): Int16Array {
    const samples = this.#peek(length);
    this.#offset += length;
    for (let frame = this.#frames[0]; frame !== undefined; frame = this.#frames[0]) {
      if (this.#offset < frame.length) break;
      this.#frames.shift();
      this.#offset -= frame.length;
      this.#played += 1;
    }
    return samples;
  }
}

function fade(frame: Int16Array, from: number, level: number): void {
  for (let index = 0; index < FADE_SAMPLES && from + index < frame.length; index += 1)
    frame[from + index] = Math.round(level * (1 - (index + 1) / FADE_SAMPLES));
}
