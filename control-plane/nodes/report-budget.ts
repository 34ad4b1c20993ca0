// How fast the slot reports of a node are stored. One with a stolen key, or a broken one, must not take the database of the others.
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import type { Slot } from '#shared/link/slot.ts';
import { TokenBucket } from '#shared/token-bucket.ts';
import { upTo } from '../bus/cache-size.ts';
import { withoutReadings } from '../store/fleet/sim-readings.ts';
import { LineBudget } from './line-budget.ts';

/** In cards. A rack of 64 modems that is plugged in again costs up to 300: its cards, and each modem starts and searches. */
const BUDGET = { burst: 500, perSecond: 10 };

/** Cost of a card that the last report did not have: the service writes its tenure and its number as well. */
const CARD_COST = 1;
/** Cost of a slot that changed in anything but its readings. */
const SLOT_COST = 0.1;
/** Cost of each slot, changed or not: all rows of the node are written. */
const ROW_COST = 0.02;
/** The same, if nothing but readings changed. A rack that gets many texts reports its storages up to 50 times a second. */
const READING_COST = 0.003;
/** Cost of a change of the node's alarms, which is logged. */
export const ALARMS_COST = 1;

/** A report never waits longer. Texts of the node wait for it. */
const PAUSE_MAX_MS = 10_000;
const COST_MAX = (PAUSE_MAX_MS / 1_000) * BUDGET.perSecond;

/** A shorter wait is not worth an operator's time. */
const LATE_MS = 1_000;
const LATE_EVERY_MS = 60_000;
const NODES_MAX = 10_000;

/** The budget of one node for what its reports write. All its links share it. */
export class ReportBudget {
  readonly #clock: Clock;
  readonly #budget: TokenBucket;
  readonly lines: LineBudget;
  #cards: ReadonlySet<string> = new Set();
  #late = 0;
  #lateAtMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#budget = new TokenBucket(clock, BUDGET);
    this.lines = new LineBudget(clock);
  }

  /** Until the next report may be stored, in ms. */
  get pauseMs(): number {
    return Math.min(PAUSE_MAX_MS, this.#budget.debtMs);
  }

  /** Pays for a report that is stored. `before`: the slots of the last one of its link. */
  payFor(slots: readonly Slot[], before: readonly Slot[]): void {
    const cards = new Set(slots.flatMap(({ iccid }) => iccid ?? []));
    const fresh = [...cards].filter((iccid) => !this.#cards.has(iccid)).length;
    const known = new Map(before.map((slot) => [slot.slot, stateOf(slot)]));
    const changed = slots.filter((slot) => known.get(slot.slot) !== stateOf(slot)).length;
    const isSame = changed === 0 && known.size === slots.length;
    this.#cards = cards;
    this.pay(fresh * CARD_COST + changed * SLOT_COST + slots.length * (isSame ? READING_COST : ROW_COST));
  }

  pay(cost: number): void {
    this.#budget.charge(Math.min(COST_MAX, cost));
  }

  /** Counts a report that waits. Returns the count since the last time that it was not 0, which is at most once a minute. */
  countLate(pauseMs: number): number {
    if (pauseMs < LATE_MS) return 0;
    this.#late += 1;
    const nowMs = this.#clock.now();
    if (nowMs - this.#lateAtMs < LATE_EVERY_MS) return 0;
    const late = this.#late;
    this.#lateAtMs = nowMs;
    this.#late = 0;
    return late;
  }
}

const stateOf = (slot: Slot): string => JSON.stringify(withoutReadings(slot));

/** The budget of each node, which all its links share. */
export function reportBudgets(clock: Clock): { of(nodeId: string): ReportBudget } {
  const byNode = new LRUCache<string, ReportBudget>(upTo(NODES_MAX));
  return {
    of(nodeId) {
      const budget = byNode.get(nodeId) ?? new ReportBudget(clock);
      byNode.set(nodeId, budget);
      return budget;
    },
  };
}
