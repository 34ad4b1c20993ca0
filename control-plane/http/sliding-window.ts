// Counts uses per key within any window of time: counters of rate-limiter-flexible, one set per slot.
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Clock } from '#shared/clock.ts';

/** Slots per window. A use counts until its slot has left the window: at most a twelfth longer. */
const SLOTS = 12;

/** Keys per slot. A flood of more keys begins the next slot early, and the oldest slot is dropped. */
const KEYS_MAX = 10_000;

/** A window that a key may use `max` times. */
interface WindowOptions {
  clock: Clock;
  max: number;
  withinMs: number;
}

/** One use of a key, or several. */
export interface WindowUse {
  isAllowed: boolean;
  /** Uses that are counted. */
  granted: number;
  /** Remaining uses. */
  left: number;
  /** Time until at least one more use is allowed. */
  moreInMs: number;
  /** Undoes `uses` of those that were granted, by default all. Does nothing for a refused one. */
  giveBack(uses?: number): void;
}

interface Slot {
  endsAt: number;
  counters: RateLimiterMemory;
  /** The keys of this slot; with each, its uses in earlier slots once they are known. */
  keys: Map<string, Earlier | undefined>;
}

interface Earlier {
  uses: number;
  /** End of the oldest slot with uses. */
  endsAt: number | undefined;
}

/**
 * The library's own windows are fixed: around the boundary of two windows, twice the allowed uses pass. Here any window of `withinMs` lies
 * within the slots that are added up, so at most `max` uses pass in it. Refused uses are not counted.
 */
export class SlidingWindow {
  readonly #options: WindowOptions;
  readonly #slotMs: number;
  /** Oldest first; the last one is now. */
  #slots: readonly Slot[] = [];

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#slotMs = options.withinMs / SLOTS;
  }

  /** Counted keys, each once per slot in which it was used. */
  get size(): number {
    return this.#slots.reduce((sum, { keys }) => sum + keys.size, 0);
  }

  /** Uses the key `wanted` times, or as often as it is still allowed. */
  async use(key: string, wanted = 1): Promise<WindowUse> {
    const { clock, max, withinMs } = this.#options;
    const now = clock.now();
    const slot = this.#slotAt(now);
    const slots = this.#slots;
    // Counted before any await, so that of many parallel uses each sees those before it.
    const counted = slot.counters.penalty(key, wanted);
    let earlier = slot.keys.get(key);
    if (earlier === undefined) {
      slot.keys.set(key, undefined);
      earlier = await sumEarlier(slots, key);
      slot.keys.set(key, earlier);
    }
    const { consumedPoints } = await counted;
    const left = max - earlier.uses - consumedPoints;
    const granted = Math.max(0, wanted + Math.min(0, left));
    const isAllowed = granted > 0;
    if (granted < wanted) void slot.counters.reward(key, wanted - granted);
    return {
      isAllowed,
      granted,
      left: Math.max(0, left),
      moreInMs: (earlier.endsAt ?? slot.endsAt) + withinMs - now,
      giveBack: (uses = granted) => {
        if (uses === 0) return;
        void slot.counters.reward(key, uses);
        for (const { keys } of this.#slots) if (keys.has(key)) keys.set(key, undefined);
      },
    };
  }

  #slotAt(now: number): Slot {
    const last = this.#slots.at(-1);
    const isCurrent = last !== undefined && now < last.endsAt && last.endsAt <= now + this.#slotMs;
    if (isCurrent && last.keys.size < KEYS_MAX) return last;
    const { withinMs } = this.#options;
    // A slot that ends later than possible was counted before the clock was set back.
    const counted = this.#slots.filter(({ endsAt }) => endsAt + withinMs > now && endsAt <= now + withinMs);
    const slot: Slot = {
      endsAt: (Math.floor(now / this.#slotMs) + 1) * this.#slotMs,
      // Without a duration the library uses neither timers nor the time of day. Slots are dropped as a whole.
      counters: new RateLimiterMemory({ points: this.#options.max, duration: 0, keyPrefix: '' }),
      keys: new Map(),
    };
    this.#slots = [...counted, slot].slice(-(SLOTS + 1));
    return slot;
  }
}

async function sumEarlier(slots: readonly Slot[], key: string): Promise<Earlier> {
  const earlier = slots.slice(0, -1).filter(({ keys }) => keys.has(key));
  const sum: Earlier = { uses: 0, endsAt: undefined };
  for (const { counters, endsAt } of earlier) {
    const uses = (await counters.get(key))?.consumedPoints ?? 0;
    if (uses > 0) sum.endsAt ??= endsAt;
    sum.uses += uses;
  }
  return sum;
}
