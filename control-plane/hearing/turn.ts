// Speech of the far end since an agent last listened, without its long pauses. Bounded: the oldest audio is dropped.
import { FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE_HZ, samplesOf } from '#shared/voice/media.ts';
import { featuresOf } from './frame-features.ts';
import { hear, NOTHING_HEARD, SOUND_FRAMES_MIN } from './speech-activity.ts';

const frames = (ms: number): number => ms / FRAME_MS;

/** A person who says nothing for this long has finished. */
const PAUSE = frames(900);
/** Kept from before a sound: soft beginnings of words. */
const LEAD = frames(200);
const HEARD_MS_MAX = 30_000;

export interface HeardTurn {
  /** 16 kHz. */
  samples: Int16Array;
  /** Whether the far end had fallen silent. */
  isComplete: boolean;
  /** Audio that was dropped, because more was said than is kept. */
  droppedMs: number;
}

export class Turn {
  #heard = NOTHING_HEARD;
  #frames: Int16Array[] = [];
  #lead: Int16Array[] = [];
  #soundFrames = 0;
  #silentFrames = PAUSE;
  #droppedFrames = 0;

  /** Adds 20 ms of the far end; the frame is copied. */
  add(frame: Uint8Array): void {
    const samples = samplesOf(frame);
    this.#heard = hear(this.#heard, featuresOf(samples, SAMPLE_RATE_HZ));
    if (this.#heard.activity === 'silence') {
      this.#silentFrames += 1;
      if (this.#silentFrames < PAUSE) this.#keep(samples);
      else this.#addLead(samples);
      return;
    }
    for (const earlier of this.#lead.splice(0)) this.#keep(earlier);
    this.#silentFrames = 0;
    this.#soundFrames += 1;
    this.#keep(samples);
  }

  /** Whether the far end has said something and fallen silent, or more was said than is kept. */
  get isReady(): boolean {
    return this.hasSound && (this.#silentFrames >= PAUSE || this.#frames.length >= frames(HEARD_MS_MAX));
  }

  get hasSound(): boolean {
    return this.#soundFrames >= SOUND_FRAMES_MIN;
  }

  /** Returns and forgets what was said; undefined if nothing was. */
  take(): HeardTurn | undefined {
    if (!this.hasSound) return undefined;
    const samples = new Int16Array(this.#frames.reduce((length, frame) => length + frame.length, 0));
    let at = 0;
    for (const frame of this.#frames) {
      samples.set(frame, at);
      at += frame.length;
    }
    const turn = {
      samples,
      isComplete: this.#silentFrames >= PAUSE,
      droppedMs: this.#droppedFrames * FRAME_MS,
    };
    this.#frames = [];
    this.#soundFrames = 0;
    this.#droppedFrames = 0;
    return turn;
  }

  /** Undoes `take`: it comes before what was said since. */
  putBack({ droppedMs, samples }: HeardTurn): void {
    const earlier = Array.from({ length: samples.length / FRAME_SAMPLES }, (_, index) =>
      samples.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES),
    );
    this.#frames = [...earlier, ...this.#frames];
    this.#soundFrames = Math.max(SOUND_FRAMES_MIN, this.#soundFrames);
    this.#droppedFrames += frames(droppedMs);
    this.#dropOldest();
  }

  #keep(samples: Int16Array): void {
    this.#frames.push(samples);
    this.#dropOldest();
  }

  #dropOldest(): void {
    const excess = Math.max(0, this.#frames.length - frames(HEARD_MS_MAX));
    this.#frames.splice(0, excess);
    this.#droppedFrames += excess;
  }

  #addLead(samples: Int16Array): void {
    // A click is forgotten.
    if (this.#soundFrames > 0 && this.#soundFrames < SOUND_FRAMES_MIN) this.#forget();
    this.#lead.push(samples);
    if (this.#lead.length > LEAD) this.#lead.shift();
  }

  #forget(): void {
    this.#frames = [];
    this.#soundFrames = 0;
  }
}
