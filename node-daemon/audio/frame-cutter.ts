// Octets of a modem's audio as frames of 20 ms: they come in pieces of any size, and one that is lost must not make noise of all that follows. Pure.
import { SampleAlignment } from './sample-alignment.ts';

/** After a silence of this length, the rest of a frame is thrown away, and samples start again with the next octet. */
const GAP_MS = 100;
/** Length of the first audio whose octets give the rate, where nothing else gives it: 240 ms. */
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

  /** Without a rate it is measured: nothing is cut until it is known. */
  constructor(rateHz: Rate | undefined) {
    this.#rateHz = rateHz;
  }

  /** Samples a second; undefined while it is not known. */
  get rateHz(): Rate | undefined {
    return this.#rateHz;
  }

  /** Times that nothing came for longer than 100 ms, or that octets were lost in between. */
  get gaps(): number {
    return this.#gaps;
  }

  /** Takes octets that came at a time (any clock, ms); returns whole frames, S16LE. */
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
      // A copy of its own: samples must begin at an even place.
      const frame = all.slice(at, at + frameOctets);
      frames.push(new Int16Array(frame.buffer));
      if (!this.#alignment.isOff(frame)) continue;
      this.#gaps += 1;
      // The last octet is the first half of a sample: it is there already, the next may not be.
      at -= 1;
    }
    this.#pending = all.slice(at);
    return frames;
  }

  /** 16,000 or 32,000 octets a second: anything between is nearer to one of them. */
  #measure(octets: number, nowMs: number): Rate | undefined {
    this.#measuredFrom ??= nowMs;
    const elapsedMs = nowMs - this.#measuredFrom;
    if (elapsedMs >= MEASURED_MS) {
      this.#rateHz = (this.#measuredOctets * 1000) / elapsedMs > 24_000 ? 16_000 : 8_000;
    }
    // Audio that came with the first piece may have waited in the modem.
    if (elapsedMs > 0) this.#measuredOctets += octets;
    return this.#rateHz;
  }
}
