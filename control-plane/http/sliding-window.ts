// Counts uses per key within any window of time, in slots of a twelfth of it.
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

/** One use of a key. */
export interface Use {
  isAllowed: boolean;
  /** Remaining uses. */
  left: number;
  /** Time until at least one more use is allowed. */
  moreInMs: number;
  /** Undoes the use. Does nothing for a refused one. */
  giveBack(): void;
}

interface Slot {
  endsAt: number;
  counters: Map<string, Counter>;
}

/** The uses of one key in one slot. */
interface Counter {
  uses: number;
  /** Its uses in earlier slots, once they are known. */
  earlier: Earlier | undefined;
}

interface Earlier {
  uses: number;
  /** End of the oldest slot with uses. */
  endsAt: number | undefined;
}

/**
 * Fixed windows would let twice the allowed uses pass around the boundary of two windows. Here any window of `withinMs` lies within the
 * slots that are added up, so at most `max` uses pass in it. Refused uses are not counted.
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
    return this.#slots.reduce((sum, { counters }) => sum + counters.size, 0);
  }

  use(key: string): Use {
    const { clock, max, withinMs } = this.#options;
    const now = clock.now();
    const slot = this.#slotAt(now);
    const counter = counterOf(slot, key);
    counter.earlier ??= sumEarlier(this.#slots, key);
    const { earlier } = counter;
    const isAllowed = earlier.uses + counter.uses < max;
    if (isAllowed) counter.uses += 1;
    return {
      isAllowed,
      left: Math.max(0, max - earlier.uses - counter.uses),
      moreInMs: (earlier.endsAt ?? slot.endsAt) + withinMs - now,
      giveBack: () => {
        if (!isAllowed) return;
        counter.uses -= 1;
        for (const { counters } of this.#slots) {
          const each = counters.get(key);
          if (each !== undefined) each.earlier = undefined;
        }
      },
    };
  }

  #slotAt(now: number): Slot {
    const last = this.#slots.at(-1);
    const isCurrent = last !== undefined && now < last.endsAt && last.endsAt <= now + this.#slotMs;
    if (isCurrent && last.counters.size < KEYS_MAX) return last;
    const { withinMs } = this.#options;
    // A slot that ends later than possible was counted before the clock was set back.
    const counted = this.#slots.filter(({ endsAt }) => endsAt + withinMs > now && endsAt <= now + withinMs);
    const slot: Slot = { endsAt: (Math.floor(now / this.#slotMs) + 1) * this.#slotMs, counters: new Map() };
    this.#slots = [...counted, slot].slice(-(SLOTS + 1));
    return slot;
  }
}

function counterOf({ counters }: Slot, key: string): Counter {
  const known = counters.get(key);
  if (known !== undefined) return known;
  const counter: Counter = { uses: 0, earlier: undefined };
  counters.set(key, counter);
  return counter;
}

function sumEarlier(slots: readonly Slot[], key: string): Earlier {
  const sum: Earlier = { uses: 0, endsAt: undefined };
  for (const { counters, endsAt } of slots.slice(0, -1)) {
    const uses = counters.get(key)?.uses ?? 0;
    if (uses > 0) sum.endsAt ??= endsAt;
    sum.uses += uses;
  }
  return sum;
}
