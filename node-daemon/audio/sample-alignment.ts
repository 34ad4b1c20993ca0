// Detects 16-bit samples that are cut in the middle. After a lost octet, or an NMEA sentence of odd length, every sample begins
// in its middle: the result is very loud noise that still contains the sound. Pure.

/** This many frames in a row (100 ms) must seem to be cut wrong. */
const FRAMES_MIN = 5;
/** Sum of the steps between samples, relative to their levels, at 8 kHz: 0.2 to 0.6 for vowels, 1.3 for noise. */
const SMOOTH_MAX = 0.7;
const ROUGH_MIN = 0.9;
/** A mean level below this is silence, which gives no evidence. */
const QUIET_LEVEL = 8;

export class SampleAlignment {
  #wrong = 0;

  /** Takes one frame. Returns true if this frame and those before it are noise, but would be sound if shifted by one octet. */
  isOff(octets: Uint8Array): boolean {
    const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
    const mine = shape(view, 0);
    if (mine.roughness < SMOOTH_MAX) this.#wrong = 0;
    else if (mine.roughness > ROUGH_MIN) {
      const other = shape(view, 1);
      if (other.roughness < SMOOTH_MAX && other.level < mine.level) this.#wrong += 1;
    }
    if (this.#wrong < FRAMES_MIN) return false;
    this.#wrong = 0;
    return true;
  }
}

/** The roughness of silence is NaN. */
function shape(view: DataView, from: number): { level: number; roughness: number } {
  let [steps, levels, count, before] = [0, 0, 0, 0];
  for (let at = from; at + 2 <= view.byteLength; at += 2) {
    const sample = view.getInt16(at, true);
    if (count > 0) steps += Math.abs(sample - before);
    levels += Math.abs(sample);
    before = sample;
    count += 1;
  }
  const level = levels / count;
  return { level, roughness: level < QUIET_LEVEL ? Number.NaN : steps / levels };
}
