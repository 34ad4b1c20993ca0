// How often an address may ask: a burst, and then as many as come back to it over the time (GCRA, a leaky bucket).
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import { networkOf } from './client-network.ts';

/** Addresses that are remembered; what a flood from more of them costs is bounded by what they ask for. */
const ADDRESSES_MAX = 10_000;

/** Counts a request of the address. Throws `Refusal` `rate_limited` when it has none left; that one is not counted. */
export type RequestLimit = (address: string) => void;

/** `max` requests of an address at once, and `max` more within each `withinMs`. `name` stands in the headers. */
export function createRequestLimit(
  clock: Clock,
  { name, max, withinMs }: { name: string; max: number; withinMs: number },
): RequestLimit {
  const intervalMs = withinMs / max;
  // When an address that asks no more will have its whole burst again.
  const restoredAt = new LRUCache<string, number>({ max: ADDRESSES_MAX });
  return (address) => {
    const key = networkOf(address);
    const now = clock.now();
    const restored = restoredAt.get(key) ?? now;
    // Further away it was noted by a clock that has been set back since.
    const next = (restored > now && restored <= now + withinMs ? restored : now) + intervalMs;
    const waitMs = next - withinMs - now;
    if (waitMs <= 0) {
      restoredAt.set(key, next);
      return;
    }
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    throw new Refusal('rate_limited', `too many requests; wait ${seconds} s`, {
      headers: {
        'Retry-After': String(seconds),
        // draft-ietf-httpapi-ratelimit-headers
        'RateLimit-Policy': `"${name}";q=${max};w=${withinMs / 1000}`,
        RateLimit: `"${name}";r=0;t=${seconds}`,
      },
    });
  };
}
