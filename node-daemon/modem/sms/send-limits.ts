// Limits messages per SIM and per recipient, with sliding windows over the commands in the journal.
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { SendLimitSettings, SendRate } from '../../config/node-config.ts';
import type { ReadonlyCommandMap } from '../../journal/command-map.ts';

/** Maximum number of recipients. The one with the oldest message is forgotten first. */
const DESTINATIONS_MAX = 100_000;
/** More SIMs than a rack can hold. */
const SIMS_MAX = 4096;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Counts messages when they are admitted. After a restart, it counts the commands in the journal, with any outcome. Withdrawn commands
 * are not in the journal.
 */
export class SendLimits {
  readonly #sims: Windows;
  readonly #destinations: Windows;

  constructor(settings: SendLimitSettings, commands: ReadonlyCommandMap, now: number) {
    this.#sims = new Windows(settings.perSim, SIMS_MAX);
    this.#destinations = new Windows(settings.perDestination, DESTINATIONS_MAX);
    if (!this.#sims.hasLimit && !this.#destinations.hasLimit) return;
    for (const { iccid, to, at } of commands.values()) {
      // A clock that was ahead must not block messages for longer than a window.
      const time = Math.min(Date.parse(at), now);
      this.#sims.count(iccid, time);
      this.#destinations.count(to, time);
    }
  }

  /**
   * Admits and counts a message. The returned function takes the count back for a message that was not tried. Throws
   * `CommandRefusal` `rate_limited` with the time after which the message would be admitted.
   */
  admit(iccid: string, to: string, now: number): () => void {
    const simMs = this.#sims.waitMs(iccid, now);
    const destinationMs = this.#destinations.waitMs(to, now);
    const waitMs = Math.max(simMs, destinationMs);
    if (waitMs > 0) {
      const whose = simMs >= destinationMs ? 'this SIM' : 'this recipient';
      const text = `The node’s limit for ${whose} is reached. Try again in ${Math.ceil(waitMs / 1000)} s.`;
      throw new CommandRefusal('rate_limited', text, { retryAfterMs: waitMs });
    }
    this.#sims.count(iccid, now);
    this.#destinations.count(to, now);
    return () => {
      this.#sims.uncount(iccid, now);
      this.#destinations.uncount(to, now);
    };
  }
}

/** Sliding windows by key: the times of the last messages, as many as the largest limit needs. */
class Windows {
  readonly #limits: readonly { readonly count: number; readonly windowMs: number }[];
  readonly #timesMax: number;
  readonly #keysMax: number;
  /** Times by key, oldest first. The least recently used key comes first. */
  readonly #times = new Map<string, number[]>();

  constructor({ perMinute = 0, perHour = 0, perDay = 0 }: SendRate, keysMax: number) {
    this.#limits = [
      { count: perMinute, windowMs: MINUTE_MS },
      { count: perHour, windowMs: HOUR_MS },
      { count: perDay, windowMs: DAY_MS },
    ].filter(({ count }) => count > 0);
    this.#timesMax = Math.max(0, ...this.#limits.map(({ count }) => count));
    this.#keysMax = keysMax;
  }

  get hasLimit(): boolean {
    return this.#limits.length > 0;
  }

  /** Returns the ms until another message fits into every window; 0 if it fits now. */
  waitMs(key: string, now: number): number {
    const times = this.#times.get(key);
    if (times === undefined) return 0;
    // After the clock was set back, times in the future count as now.
    for (let last = times.length - 1; (times[last] ?? now) > now; last -= 1) times[last] = now;
    const waits = this.#limits.map(({ count, windowMs }) => {
      const first = times[times.length - count];
      return first === undefined ? 0 : Math.max(0, first + windowMs - now);
    });
    return Math.max(0, ...waits);
  }

  count(key: string, time: number): void {
    if (!this.hasLimit) return;
    const times = this.#times.get(key) ?? [];
    times.push(time);
    if (times.length > this.#timesMax) times.shift();
    this.#times.delete(key);
    this.#times.set(key, times);
    if (this.#times.size <= this.#keysMax) return;
    const [oldest = ''] = this.#times.keys();
    this.#times.delete(oldest);
  }

  uncount(key: string, time: number): void {
    const times = this.#times.get(key);
    const position = times?.lastIndexOf(time) ?? -1;
    if (position >= 0) times?.splice(position, 1);
    if (times?.length === 0) this.#times.delete(key);
  }
}
