// Detects telephone keys in audio (ITU-T Q.23) with the limits for receivers (Q.24), for modems that do not report keys. Pure.
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';

const ROWS_HZ = [697, 770, 852, 941] as const;
const COLUMNS_HZ = [1209, 1336, 1477, 1633] as const;
const KEYS = ['123A', '456B', '789C', '*0#D'] as const;

/** 25.6 ms: long enough to distinguish neighboring frequencies, and short enough that a key of 40 ms fills at least one block. */
const BLOCK_SAMPLES = 410;
const OFF = [0.988, 1, 1.012];
/** A tone below -36 dBFS does not count. */
const LEVEL_MIN = 0.016 * 32_768;
/** Least share of the power that is in the two tones. */
const PURITY_MIN = 0.75;
/** The tones of a key differ by at most 8 dB. The strongest tone of a group is 6 dB above the next one. */
const TWIST_MAX = 10 ** (8 / 20);
const NEXT_BELOW = 10 ** (6 / 20);
/** Blocks with a key, and without it, before the change counts: 40 ms or more. */
const BLOCKS_ON = 2;
const BLOCKS_OFF = 2;

export class DtmfDetector {
  readonly #block = new Float64Array(BLOCK_SAMPLES);
  #filled = 0;
  #candidate: string | undefined;
  #count = 0;
  #reported: string | undefined;
  #silent = 0;

  /** Takes audio of 16 kHz. Returns the keys that it recognized. */
  push(samples: Int16Array): string[] {
    const keys: string[] = [];
    for (const sample of samples) {
      this.#block[this.#filled] = sample;
      this.#filled += 1;
      if (this.#filled < BLOCK_SAMPLES) continue;
      this.#filled = 0;
      const key = this.#next(keyIn(this.#block));
      if (key !== undefined) keys.push(key);
    }
    return keys;
  }

  #next(heard: string | undefined): string | undefined {
    if (heard === undefined) {
      this.#silent += 1;
      if (this.#silent >= BLOCKS_OFF) this.#reported = undefined;
      this.#count = 0;
      this.#candidate = undefined;
      return undefined;
    }
    this.#silent = 0;
    this.#count = heard === this.#candidate ? this.#count + 1 : 1;
    this.#candidate = heard;
    if (this.#count < BLOCKS_ON || heard === this.#reported) return undefined;
    this.#reported = heard;
    return heard;
  }
}

function keyIn(block: Float64Array): string | undefined {
  const rows = ROWS_HZ.map((frequencyHz) => amplitudeNear(block, frequencyHz));
  const columns = COLUMNS_HZ.map((frequencyHz) => amplitudeNear(block, frequencyHz));
  const row = strongest(rows);
  const column = strongest(columns);
  if (row === undefined || column === undefined) return undefined;
  const [low, high] = [rows[row] ?? 0, columns[column] ?? 0];
  if (low < LEVEL_MIN || high < LEVEL_MIN || Math.max(low / high, high / low) > TWIST_MAX) return undefined;
  const power = block.reduce((sum, sample) => sum + sample * sample, 0) / BLOCK_SAMPLES;
  if ((low * low + high * high) / 2 < PURITY_MIN * power) return undefined;
  return KEYS[row]?.[column];
}

/** Returns the tone that stands out. */
function strongest(levels: readonly number[]): number | undefined {
  const [first = 0, second = 0] = [...levels].sort((a, b) => b - a);
  return first > second * NEXT_BELOW ? levels.indexOf(first) : undefined;
}

/** Covers tones that are up to 1.5 % off, which receivers must accept (Q.24). */
const amplitudeNear = (block: Float64Array, frequencyHz: number): number =>
  Math.max(...OFF.map((off) => amplitude(block, frequencyHz * off)));

/** Returns the amplitude of one frequency in a block (Goertzel's algorithm). */
function amplitude(block: Float64Array, frequencyHz: number): number {
  const omega = (2 * Math.PI * frequencyHz) / SAMPLE_RATE_HZ;
  const coefficient = 2 * Math.cos(omega);
  let before = 0;
  let last = 0;
  for (const sample of block) {
    const next = sample + coefficient * last - before;
    before = last;
    last = next;
  }
  const power = last * last + before * before - coefficient * last * before;
  return (2 * Math.sqrt(Math.max(0, power))) / BLOCK_SAMPLES;
}
