// Reads the store once per scrape, however many metrics use the reading, and never for longer than a scraper waits.
import { type Clock, withTimeout } from '#shared/clock.ts';

/** A scraper gives up after about ten seconds. The metrics that do not come from the database must be returned in any case. */
const READ_TIMEOUT_MS = 3_000;

/** Returns a function that resolves with the reading of this scrape; undefined if the store fails or does not respond in time. */
export function oncePerScrape<T>(read: () => Promise<T>, clock: Clock): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined;
  return () => {
    reading ??= withTimeout(
      clock,
      read(),
      READ_TIMEOUT_MS,
      () => new Error('the database did not respond in time'),
    )
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}
