// Sound that lasts a few milliseconds less, at its own pitch: one repetition of it is left out, cross-faded. Speech repeats
// itself with each pitch period, silence anywhere. Pure.

/** 2.5 to 15 ms at 16 kHz: the pitch periods of voices from 67 to 400 Hz. */
export const SKIP_SAMPLES_MIN = 40;
export const SKIP_SAMPLES_MAX = 240;
/** 10 ms: so much is compared, and cross-faded. */
const FADE_SAMPLES = 160;
/** Correlation of what is faded from and to: below, it could be heard. */
const ALIKE = 0.9;
/** Below 1 % of full scale a listener does not hear how it is faded. */
const QUIET_PEAK = 328;

/**
 * `length` samples (160 at least) made of more: those that `samples` (at most `length` + 240) begins with. `skipped`, 40 to
 * 240, were left out: the next sample is `samples[length + skipped]`. Undefined where nothing repeats itself.
 */
export function accelerated(
  samples: Int16Array,
  length: number,
): { audio: Int16Array; skipped: number } | undefined {
  const skipped = repetition(samples, Math.min(SKIP_SAMPLES_MAX, samples.length - length));
  if (skipped === undefined) return undefined;
  const audio = samples.slice(skipped, skipped + length);
  for (let index = 0; index < FADE_SAMPLES; index += 1) {
    const from = samples[index] ?? 0;
    audio[index] = Math.round(from + (((audio[index] ?? 0) - from) * index) / FADE_SAMPLES);
  }
  return { audio, skipped };
}

/** After how many samples, `most` at most, it sounds most as it did at first. */
function repetition(samples: Int16Array, most: number): number | undefined {
  const compared = samples.subarray(0, FADE_SAMPLES + most);
  if (most >= SKIP_SAMPLES_MIN && compared.every((sample) => Math.abs(sample) < QUIET_PEAK)) return most;
  let found: number | undefined;
  let best = ALIKE;
  for (let lag = SKIP_SAMPLES_MIN; lag <= most; lag += 1) {
    const alike = correlation(samples, lag);
    if (alike < best) continue;
    best = alike;
    found = lag;
  }
  return found;
}

function correlation(samples: Int16Array, lag: number): number {
  let [cross, first, second] = [0, 0, 0];
  for (let index = 0; index < FADE_SAMPLES; index += 1) {
    const [a, b] = [samples[index] ?? 0, samples[index + lag] ?? 0];
    cross += a * b;
    first += a * a;
    second += b * b;
  }
  return cross / Math.sqrt(first * second);
}
