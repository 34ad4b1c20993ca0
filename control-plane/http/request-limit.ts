// How often somebody may ask: a burst, and then as many as come back to it over the time (GCRA, a leaky bucket).
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Limit, observe } from '../metrics/observation.ts';
import { networkOf } from './client-network.ts';

/** Those who are remembered; what a flood from more of them costs is bounded by what they ask for. */
const KEYS_MAX = 10_000;

/**
 * Counts a request of the key: a subscription, or an address, of which the network counts. Returns the headers that say what is left
 * (draft-ietf-httpapi-ratelimit-headers). Throws `Refusal` `rate_limited` when nothing is; that one is not counted.
 */
export interface RequestLimit {
  (asker: string): Record<string, string>;
  /** Takes back one that was counted. */
  giveBack(asker: string): void;
}

/** `max` requests of a key at once, and `max` more within each `withinMs`. `name` stands in the headers. */
export function createRequestLimit(
  clock: Clock,
  { name, max, withinMs }: { name: Limit; max: number; withinMs: number },
): RequestLimit {
  const intervalMs = withinMs / max;
  // When one who asks no more will have the whole burst again.
  const restoredAt = new LRUCache<string, number>({ max: KEYS_MAX });
  const headers = (remaining: number, seconds: number): Record<string, string> => ({
    'RateLimit-Policy': `"${name}";q=${max};w=${withinMs / 1000}`,
    RateLimit: `"${name}";r=${remaining};t=${seconds}`,
  });
  const count = (asker: string): Record<string, string> => {
    const key = networkOf(asker);
    const now = clock.now();
    const restored = restoredAt.get(key) ?? now;
    // Further away it was noted by a clock that has been set back since.
    const next = (restored > now && restored <= now + withinMs ? restored : now) + intervalMs;
    const waitMs = next - withinMs - now;
    if (waitMs <= 0) {
      restoredAt.set(key, next);
      return headers(Math.floor(-waitMs / intervalMs), Math.ceil((next - now) / 1000));
    }
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    observe({ kind: 'rate_limited', limit: name });
    throw new Refusal('rate_limited', `too many requests; wait ${seconds} s`, {
      headers: { 'Retry-After': String(seconds), ...headers(0, seconds) },
    });
  };
  const giveBack = (asker: string): void => {
    const key = networkOf(asker);
    const restored = restoredAt.get(key);
    if (restored !== undefined) restoredAt.set(key, restored - intervalMs);
  };
  return Object.assign(count, { giveBack });
}
