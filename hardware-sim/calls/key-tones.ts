// Keys that one side of a call presses: their tones in place of its voice, one after another.
import { NETWORK_RATE_HZ } from '../audio/frame.ts';
import { SampleQueue } from '../audio/sample-queue.ts';
import { dtmfTone } from '../audio/tone.ts';

/** Keys that wait for those before them. */
export const KEYS_MAX = 64;
/** Longest tone or pause. */
const PRESS_MS_MAX = 25_500;

export interface KeyPress {
  digit: string;
  toneMs: number;
  /** Silence behind it. */
  gapMs: number;
}

export class KeyTones {
  readonly #onPressed: (press: KeyPress) => void;
  #waiting: KeyPress[] = [];
  #playing = new SampleQueue(0);

  /** `onPressed` is called when the tones of a key begin. */
  constructor(onPressed: (press: KeyPress) => void) {
    this.#onPressed = onPressed;
  }

  /** Returns false when too many wait already. */
  press(keys: readonly KeyPress[]): boolean {
    if (this.#waiting.length + keys.length > KEYS_MAX) return false;
    this.#waiting.push(...keys);
    return true;
  }

  /** Returns the frame, or the tones in its place. */
  over(frame: Int16Array): Int16Array {
    if (this.#playing.length === 0 && this.#waiting.length === 0) return frame;
    const mixed = Int16Array.from(frame);
    for (let index = 0; index < mixed.length; ) {
      if (this.#playing.length === 0 && !this.#startNext()) break;
      const tones = this.#playing.take(mixed.length - index);
      mixed.set(tones, index);
      index += tones.length;
    }
    return mixed;
  }

  #startNext(): boolean {
    const next = this.#waiting.shift();
    if (next === undefined) return false;
    const tone = dtmfTone(next.digit, Math.min(next.toneMs, PRESS_MS_MAX));
    const gap = new Int16Array(Math.round((Math.min(next.gapMs, PRESS_MS_MAX) * NETWORK_RATE_HZ) / 1000));
    this.#playing = new SampleQueue(tone.length + gap.length);
    this.#playing.push(tone);
    this.#playing.push(gap);
    this.#onPressed(next);
    return true;
  }
}
