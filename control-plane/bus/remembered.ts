// A cache of database answers that bus events invalidate.
import { LRUCache } from 'lru-cache';
import type { Bus, SubscriptionEvent } from './bus.ts';
import { upTo } from './cache-size.ts';

/** How long an answer is used if the bus loses the event that invalidates it. */
const TTL_MS = 1_000;

const ENTRIES_MAX = 10_000;

/** Events are remembered for longer than any answer takes to read or is kept. */
const EVENT_MEMORY = { ttl: 60_000, ...upTo(100_000) };

interface Entry<T> {
  subscriptionId: string;
  answer: T;
  /** Number of the last event when the read began. */
  begun: number;
}

/**
 * Caches one answer per key, each about one subscription. An answer is valid only if no event of its subscription came after its read
 * began: call `begin` before the read, and pass its result to `keep`.
 */
export class Remembered<T extends object> {
  readonly #answers = new LRUCache<string, Entry<T>>({ ...upTo(ENTRIES_MAX), ttl: TTL_MS });
  readonly #lastEvent = new LRUCache<string, number>(EVENT_MEMORY);
  #events = 0;

  /** Events of `kind` invalidate the answers of their subscription. */
  constructor(bus: Bus, kind: SubscriptionEvent['kind']) {
    bus.subscribe((event) => {
      if (event.kind !== kind || !('subscriptionId' in event)) return;
      this.#events += 1;
      this.#lastEvent.set(event.subscriptionId, this.#events);
    });
  }

  find(key: string): T | undefined {
    const entry = this.#answers.get(key);
    if (entry === undefined) return undefined;
    return (this.#lastEvent.get(entry.subscriptionId) ?? 0) > entry.begun ? undefined : entry.answer;
  }

  begin(): number {
    return this.#events;
  }

  keep(begun: number, key: string, subscriptionId: string, answer: T): void {
    this.#answers.set(key, { subscriptionId, answer, begun });
  }
}
