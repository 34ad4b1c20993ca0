// Work that waits for a database that is away.
import { BackOff } from '#shared/back-off.ts';
import { type Clock, sleep } from '#shared/clock.ts';
import type { Random } from '#shared/random.ts';
import { DatabaseUnavailable } from '../../domain/refusal.ts';

/** A restart takes a second or two, a failover ten. */
const WAITS = { firstMinMs: 100, firstMaxMs: 300, capMs: 1_000 };

/**
 * Repeats `work` while the database is unavailable. Throws its other errors at once, and `DatabaseUnavailable` when the work is no longer
 * wanted or `signal` is aborted.
 */
export async function untilAvailable<T>(
  { clock, random, signal }: { clock: Clock; random: Random; signal: AbortSignal },
  work: () => Promise<T>,
  isWanted: () => boolean,
): Promise<T> {
  const backOff = new BackOff(WAITS, random);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      await sleep(clock, backOff.next(), signal).catch(() => Promise.reject(error));
      if (!isWanted()) throw error;
    }
  }
}
