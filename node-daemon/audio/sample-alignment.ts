// Whether samples of 16 bit are cut where they begin. After an octet that was lost, or a sentence of NMEA of odd length in
// between, every sample begins in the middle: noise as loud as can be, in which the sound still is. Pure.

/** So many frames (100 ms) must look cut wrong, with none in between that looks cut right. */
const FRAMES_MIN = 5;
/** Sum of the steps between samples, in parts of their levels, at 8 kHz: vowels are at 0.2 to 0.6, noise is at 1.3. */
const SMOOTH_MAX = 0.7;
const ROUGH_MIN = 0.9;
/** A mean level below this is silence, which shows nothing. */
const QUIET_LEVEL = 8;

export class SampleAlignment {
  #wrong = 0;

  /** Takes one frame. True when it and those before it are noise, and would be sound if they were cut an octet off. */
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
