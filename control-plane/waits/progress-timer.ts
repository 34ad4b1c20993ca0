// Signs of life of a request that waits.
import { type Clock, every, type Timer } from '#shared/clock.ts';

/** Clients that wait expect a sign of life every 10 s. */
const EVERY_MS = 5_000;

/** Reports the seconds since it began, every few seconds until it is cancelled. */
export function progressTimer(clock: Clock, onProgress: (seconds: number) => void): Timer {
  let seconds = 0;
  return every(clock, EVERY_MS, () => {
    seconds += EVERY_MS / 1_000;
    onProgress(seconds);
  });
}
