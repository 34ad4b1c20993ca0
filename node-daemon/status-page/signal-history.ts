// The signal of each slot over the last day, one sample per minute, in a ring in memory.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Slot } from '#shared/link/slot.ts';

const MINUTE_MS = 60_000;
/** A day of minutes. */
export const MINUTES = 24 * 60;
/** Marks a minute without a reported signal. All dBm values are negative. */
const NONE = 1;

/** One day of one slot. The clock determines the place of a minute. */
interface Ring {
  readonly samples: Int8Array;
  /** The newest written minute, since the epoch. */
  minute: number;
}

/** Takes samples from `start` to `stop`. */
export class SignalHistory {
  readonly #clock: Clock;
  readonly #slots: () => readonly Slot[];
  readonly #rings = new Map<string, Ring>();
  /** Cache of the samples and their minute, because pages are requested every few seconds. */
  readonly #days = new Map<string, { last: number; samples: readonly (number | null)[] }>();
  #timer: Timer | undefined;

  constructor(clock: Clock, slots: () => readonly Slot[]) {
    this.#clock = clock;
    this.#slots = slots;
  }

  start(): void {
    const msIntoMinute = this.#clock.now() % MINUTE_MS;
    this.#timer = this.#clock.after(MINUTE_MS - msIntoMinute, () => {
      this.#sample();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Returns the dBm of each minute of the last day, oldest first; null for none. Returns the same array until the next minute. */
  of(slot: string): readonly (number | null)[] {
    const last = this.#minute;
    const known = this.#days.get(slot);
    if (known?.last === last) return known.samples;
    const samples = this.#read(this.#rings.get(slot), last);
    if (this.#rings.has(slot)) this.#days.set(slot, { last, samples });
    return samples;
  }

  #read(ring: Ring | undefined, last: number): (number | null)[] {
    const day = new Array<number | null>(MINUTES).fill(null);
    if (ring === undefined) return day;
    // Older minutes are overwritten, and newer ones are not written yet.
    const from = Math.max(last, ring.minute) - MINUTES + 1;
    for (let minute = from; minute <= Math.min(last, ring.minute); minute += 1) {
      const sample = ring.samples[minute % MINUTES] ?? NONE;
      if (sample !== NONE) day[minute - (last - MINUTES + 1)] = sample;
    }
    return day;
  }

  get #minute(): number {
    return Math.floor(this.#clock.now() / MINUTE_MS);
  }

  /** Removes the rings of removed and renamed slots, so that there are never more rings than slots. */
  #sample(): void {
    const minute = this.#minute;
    const slots = this.#slots();
    this.#days.clear();
    const names = new Set(slots.map(({ slot }) => slot));
    for (const name of this.#rings.keys()) if (!names.has(name)) this.#rings.delete(name);
    for (const { slot, signal_dbm: signal } of slots) {
      const ring = this.#rings.get(slot) ?? { samples: new Int8Array(MINUTES).fill(NONE), minute };
      // The clock was set back, or the host slept, so the values between are unknown.
      if (minute < ring.minute || minute - ring.minute >= MINUTES) ring.samples.fill(NONE);
      else for (let each = ring.minute + 1; each < minute; each += 1) ring.samples[each % MINUTES] = NONE;
      ring.samples[minute % MINUTES] = signal === null ? NONE : Math.max(-127, Math.min(0, signal));
      ring.minute = minute;
      this.#rings.set(slot, ring);
    }
  }
}
