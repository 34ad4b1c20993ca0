// Features of 20 ms of audio: its level, and whether it is a single tone. Pure.

export interface FrameFeatures {
  /** Level of the frame against full scale, in dB; -96 for silence. */
  levelDb: number;
  /** How often the signal crosses zero in a second. Twice the frequency of a tone; hisses have many. */
  crossingsHz: number;
  /** 0 to 1: how well each sample follows from two before it. A sine is near 1. */
  tonality: number;
}

export const SILENCE_DB = -96;
const FULL_SCALE = 32_768;

/** Telephone audio ends below 4 kHz: at 16 kHz every second sample is enough to predict it, and low tones then differ more from their mean. */
const LAG = 2;

/** Features of samples at this rate. Without the mean, which modems shift. */
export function featuresOf(samples: Int16Array, rateHz: number): FrameFeatures {
  const { length } = samples;
  let sum = 0;
  for (const sample of samples) sum += sample;
  const mean = sum / Math.max(1, length);
  const valueAt = (at: number): number => (samples[at] ?? mean) - mean;
  let [power, one, two, crossings] = [0, 0, 0, 0];
  for (let at = 0; at < length; at += 1) {
    const value = valueAt(at);
    power += value * value;
    if (at > 0 && value < 0 !== valueAt(at - 1) < 0) crossings += 1;
    if (at >= LAG) one += value * valueAt(at - LAG);
    if (at >= 2 * LAG) two += value * valueAt(at - 2 * LAG);
  }
  const meanPower = power / Math.max(1, length) / FULL_SCALE ** 2;
  // There are fewer pairs of samples than samples.
  const perPair = (distance: number): number => length / Math.max(1, length - distance) / power;
  return {
    levelDb: meanPower === 0 ? SILENCE_DB : Math.max(SILENCE_DB, 10 * Math.log10(meanPower)),
    crossingsHz: (crossings * rateHz) / Math.max(1, length),
    tonality: power === 0 ? 0 : tonalityOf(one * perPair(LAG), two * perPair(2 * LAG)),
  };
}

/** The second reflection coefficient of linear prediction (Levinson-Durbin), of the first two autocorrelations. */
function tonalityOf(one: number, two: number): number {
  const rest = 1 - one * one;
  if (rest < 1e-9) return 0;
  return Math.min(1, Math.max(0, -(two - one * one) / rest));
}
