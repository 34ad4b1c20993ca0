// Messages between instances that were recorded and sent again: each is taken once, and only while it is fresh.
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import { upTo } from './cache-size.ts';

/** As far as the clocks of two instances may differ, and longer than any message is on its way. */
export const FRESH_MS = 60_000;
/** More than instances send in that time; only authentic messages are remembered. */
const REMEMBERED_MAX = 200_000;

/** Identity of one message; `at` in milliseconds since the epoch. */
export interface Stamp {
  id: string;
  at: number;
}

/** `repeat`: it came before. `other time`: it is too old, or a clock is wrong, here or there. */
type Judgement = 'taken' | 'repeat' | 'other time';

export class ReplayGuard {
  readonly #clock: Clock;
  readonly #taken = new LRUCache<string, true>({ ...upTo(REMEMBERED_MAX), ttl: 2 * FRESH_MS });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  stamp(): Stamp {
    return { id: randomUUID(), at: this.#clock.now() };
  }

  /** Judges an authentic message, and remembers it if it is taken. */
  judge({ id, at }: Stamp): Judgement {
    if (this.#taken.has(id)) return 'repeat';
    if (Math.abs(this.#clock.now() - at) > FRESH_MS) return 'other time';
    this.#taken.set(id, true);
    return 'taken';
  }
}
