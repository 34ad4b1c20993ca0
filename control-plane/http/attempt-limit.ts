// How many refused attempts an address has: who guesses is slowed down, who succeeds is not counted.
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Limit, observe } from '../metrics/observation.ts';
import { networkOf } from './client-network.ts';

/** Addresses that are remembered; more than this at once is no longer about guessing. */
const ADDRESSES_MAX = 10_000;

/** Attempts of an address at the same time: nobody knows yet which of them are refused. */
const UNDER_WAY_MAX = 32;

export interface AttemptLimit {
  /**
   * Runs `attempt`, and counts it when it is refused; what fails for another reason, such as a database that is away, is no
   * guess. Throws `Refusal` `rate_limited` when there were too many.
   */
  run<T>(address: string, attempt: () => Promise<T>): Promise<T>;
}

/** `max` refused attempts of an address within `withinMs`, counted in fixed windows. `limit` names it in the metrics. */
export function createAttemptLimit(
  clock: Clock,
  max: number,
  withinMs: number,
  limit: Limit = 'enrolment',
): AttemptLimit {
  const windows = new LRUCache<string, { endsAt: number; refused: number; underWay: number }>({
    max: ADDRESSES_MAX,
  });
  return {
    async run(address, attempt) {
      const key = networkOf(address);
      const now = clock.now();
      let window = windows.get(key);
      // One that ends further away was opened by a clock that has been set back since.
      if (window === undefined || window.endsAt <= now || window.endsAt > now + withinMs) {
        window = { endsAt: now + withinMs, refused: 0, underWay: 0 };
        windows.set(key, window);
      }
      if (window.refused >= max || window.underWay >= UNDER_WAY_MAX) {
        const seconds = Math.max(1, Math.ceil((window.endsAt - now) / 1000));
        observe({ kind: 'rate_limited', limit });
        throw new Refusal('rate_limited', `too many attempts; wait ${seconds} s`, {
          headers: { 'Retry-After': String(seconds) },
        });
      }
      window.underWay += 1;
      try {
        return await attempt();
      } catch (error) {
        if (isRefused(error)) window.refused += 1;
        throw error;
      } finally {
        window.underWay -= 1;
      }
    },
  };
}

/** What was shown is not good. */
const isRefused = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === 'unauthorized' || error.code === 'enrolment_refused');
