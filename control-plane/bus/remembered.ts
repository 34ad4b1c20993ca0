// Answers of the database that are true until the bus says otherwise, kept for a moment.
import { LRUCache } from 'lru-cache';
import type { Bus, BusEvent } from './bus.ts';

/** How long an answer may be used when the bus loses the event that ends it. */
const TTL_MS = 1_000;

const ENTRIES_MAX = 10_000;

/**
 * Remembers one answer per key, each about one subscription.
 *
 * An answer that was read before an event and arrives after it is not kept: `begin` before the read and
 * pass what it gave to `keep`.
 */
export class Remembered<T extends object> {
  readonly #answers = new LRUCache<string, { subscriptionId: string; answer: T }>({
    max: ENTRIES_MAX,
    ttl: TTL_MS,
  });
  #events = 0;

  /** Events of `kind` end what is remembered of their subscription. */
  constructor(bus: Bus, kind: BusEvent['kind']) {
    bus.subscribe((event) => {
      if (event.kind === kind) this.#forget(event.subscriptionId);
    });
  }

  find(key: string): T | undefined {
    return this.#answers.get(key)?.answer;
  }

  begin(): number {
    return this.#events;
  }

  keep(begun: number, key: string, subscriptionId: string, answer: T): void {
    if (begun === this.#events) this.#answers.set(key, { subscriptionId, answer });
  }

  #forget(subscriptionId: string): void {
    this.#events += 1;
    for (const [key, entry] of this.#answers.entries()) {
      if (entry.subscriptionId === subscriptionId) this.#answers.delete(key);
    }
  }
}
