// Cuts a modem's audio into frames of 20 ms. Octets arrive in pieces of any size, and a lost octet must not turn the rest into noise. Pure.

/** After a pause of this length, an incomplete frame is discarded, and samples start again with the next octet. */
const GAP_MS = 100;
/** Length of the first audio from which an unknown rate is measured: 240 ms. */
const MEASURED_MS = 240;
const FRAME_MS = 20;

export type Rate = 8_000 | 16_000;

export class FrameCutter {
  #rateHz: Rate | undefined;
  #pending = new Uint8Array(0);
  readonly #alignment = new SampleAlignment();
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #measuredFrom: number | undefined;
  #measuredOctets = 0;
  #gaps = 0;

  /** Without a rate, the rate is measured first, and no frame comes before it is known. */
  constructor(rateHz: Rate | undefined) {
    this.#rateHz = rateHz;
  }

  /** Samples per second; undefined while unknown. */
  get rateHz(): Rate | undefined {
    return this.#rateHz;
  }

  /** Number of pauses longer than 100 ms, and of losses of octets. */
  get gaps(): number {
    return this.#gaps;
  }

  /** Takes octets and their time (any clock, ms). Returns complete frames, S16LE. */
  push(octets: Uint8Array, nowMs: number): Int16Array[] {
    if (nowMs - this.#lastAtMs > GAP_MS && this.#lastAtMs > Number.NEGATIVE_INFINITY) {
      this.#gaps += 1;
      this.#pending = new Uint8Array(0);
    }
    this.#lastAtMs = nowMs;
    const rateHz = this.#rateHz ?? this.#measure(octets.length, nowMs);
    if (rateHz === undefined) return [];
    return this.#cut(octets, (2 * rateHz * FRAME_MS) / 1000);
  }

  #cut(octets: Uint8Array, frameOctets: number): Int16Array[] {
    const all = new Uint8Array(this.#pending.length + octets.length);
    all.set(this.#pending);
    all.set(octets, this.#pending.length);
    const frames: Int16Array[] = [];
    let at = 0;
    for (; at + frameOctets <= all.length; at += frameOctets) {
      // Copies the frame, because samples must begin at an even offset.
      const frame = all.slice(at, at + frameOctets);
      frames.push(new Int16Array(frame.buffer));
      if (!this.#alignment.isOff(frame)) continue;
      this.#gaps += 1;
      // The last octet is the first half of a sample whose second half may not have come yet.
      at -= 1;
    }
    this.#pending = all.slice(at);
    return frames;
  }

  /** The rate is 16,000 or 32,000 octets per second. A measured value counts as the nearer one. */
  #measure(octets: number, nowMs: number): Rate | undefined {
    this.#measuredFrom ??= nowMs;
    const elapsedMs = nowMs - this.#measuredFrom;
    if (elapsedMs >= MEASURED_MS) {
      this.#rateHz = (this.#measuredOctets * 1000) / elapsedMs > 24_000 ? 16_000 : 8_000;
    }
    // Does not count the first piece, which may have waited in the modem.
    if (elapsedMs > 0) this.#measuredOctets += octets;
    return this.#rateHz;
  }
}

/** This many frames in a row (100 ms) must seem to be cut wrong. */
const FRAMES_MIN = 5;
/** Sum of the steps between samples, relative to their levels, at 8 kHz: 0.2 to 0.6 for vowels, 1.3 for noise. */
const SMOOTH_MAX = 0.7;
const ROUGH_MIN = 0.9;
/** A mean level below this is silence, which gives no evidence. */
const QUIET_LEVEL = 8;

/**
 * Detects 16-bit samples that are cut in the middle. After a lost octet, or an NMEA sentence of odd length, every sample begins
 * in its middle: the result is very loud noise that still contains the sound.
 */
class SampleAlignment {
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
