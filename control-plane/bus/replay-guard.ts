// Messages between instances that were recorded and sent again: each is taken once, and only while it is fresh.
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import { upTo } from './cache-size.ts';

/** As far as the clocks of two instances may differ, and longer than any message is on its way. */
export const FRESH_MS = 60_000;
/** How long an instance reports clocks that differ after it refused a message because of them. */
const REPORTED_MS = 5 * 60_000;
/** More than instances send in that time; only authentic messages are remembered. */
const REMEMBERED_MAX = 200_000;

/** Of one message; `at` in milliseconds since the epoch. */
export interface Stamp {
  id: string;
  at: number;
}

export class ReplayGuard {
  readonly #clock: Clock;
  readonly #taken = new LRUCache<string, true>({ ...upTo(REMEMBERED_MAX), ttl: 2 * FRESH_MS });
  /** Time of the last refusal because of a message's time. */
  #refusedAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  stamp(): Stamp {
    return { id: randomUUID(), at: this.#clock.now() };
  }

  /**
   * Whether messages were refused in the last five minutes because of their time. A stranger who recorded an authentic message and sends it
   * again causes this too, but only when its id is forgotten or was never known here. An old message cannot show whose clock is wrong.
   */
  get isOutOfTime(): boolean {
    if (this.#refusedAt === undefined) return false;
    const agoMs = this.#clock.now() - this.#refusedAt;
    return agoMs >= 0 && agoMs < REPORTED_MS;
  }

  /** Takes only authentic messages. False for one that came before, or whose time differs too much. */
  take({ id, at }: Stamp): boolean {
    if (this.#taken.has(id)) return false;
    const now = this.#clock.now();
    if (Math.abs(now - at) > FRESH_MS) {
      this.#refusedAt = now;
      return false;
    }
    this.#taken.set(id, true);
    return true;
  }
}
