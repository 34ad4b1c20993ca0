// Tones: a sine that goes on, and the pairs of tones of telephone keys (ITU-T Q.23).
import { clipped, NETWORK_RATE_HZ } from './frame.ts';

const FULL_SCALE = 32_767;
/** Levels of the two tones. The upper one is a little stronger, because telephone lines attenuate it more. */
const LOW_DBFS = -12;
const HIGH_DBFS = -10;
/** Fade time: a tone without a fade clicks. */
const RAMP_MS = 2;

/** Q.23 §6: rows and columns of the keys. */
const ROWS_HZ = [697, 770, 852, 941] as const;
const COLUMNS_HZ = [1209, 1336, 1477, 1633] as const;
const KEYS = ['123A', '456B', '789C', '*0#D'] as const;

/** The keys. */
export const DTMF_DIGITS = /^[0-9*#A-D]+$/;

/** Amplitude of a sine of a level; 0 dBFS is the loudest sine that is not clipped. */
function amplitudeOf(levelDbfs: number): number {
  return FULL_SCALE * 10 ** (levelDbfs / 20);
}

/** A sine that goes on from frame to frame. */
export class Tone {
  readonly #step: number;
  readonly #amplitude: number;
  #phase = 0;

  constructor(frequencyHz: number, levelDbfs: number, rateHz = NETWORK_RATE_HZ) {
    this.#step = (2 * Math.PI * frequencyHz) / rateHz;
    this.#amplitude = amplitudeOf(levelDbfs);
  }

  next(samples: number): Int16Array {
    const frame = new Int16Array(samples);
    for (let index = 0; index < samples; index++) {
      frame[index] = clipped(this.#amplitude * Math.sin(this.#phase));
      this.#phase = (this.#phase + this.#step) % (2 * Math.PI);
    }
    return frame;
  }
}

function frequenciesOf(digit: string): readonly [lowHz: number, highHz: number] {
  const row = KEYS.findIndex((keys) => keys.includes(digit));
  const column = KEYS[row]?.indexOf(digit) ?? 0;
  return [ROWS_HZ[row] ?? 0, COLUMNS_HZ[column] ?? 0];
}

/** Samples of the network of one press of a key. */
export function dtmfTone(digit: string, toneMs: number): Int16Array {
  const samples = Math.round((toneMs * NETWORK_RATE_HZ) / 1000);
  const ramp = (RAMP_MS * NETWORK_RATE_HZ) / 1000;
  const [lowHz, highHz] = frequenciesOf(digit);
  const low = new Tone(lowHz, LOW_DBFS).next(samples);
  const high = new Tone(highHz, HIGH_DBFS).next(samples);
  return low.map((sample, index) => {
    const edge = Math.min(1, (index + 1) / ramp, (samples - index) / ramp);
    return clipped((sample + (high[index] ?? 0)) * edge);
  });
}
