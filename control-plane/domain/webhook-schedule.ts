// When a failed delivery is tried again, and when a webhook is paused or disabled.
import { doubledMs } from '#shared/back-off.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The waits between the attempts of a delivery, as the Standard Webhooks specification suggests: 75 hours in all. */
export const RETRY_WAITS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** So that receivers that are back do not get all retries at once. */
const JITTER = 0.1;

/** A receiver may ask for a longer wait, up to this. */
const ASKED_WAIT_MS_MAX = 24 * HOUR_MS;

/** A webhook is disabled when no attempt has succeeded for this long. */
export const FAILING_MS_MAX = 72 * HOUR_MS;

/** Up to this many failures in a row do not delay other deliveries. */
const FAILURES_WITHOUT_PAUSE = 2;
const PAUSE_MS_MIN = 5 * SECOND_MS;
const PAUSE_MS_MAX = 5 * MINUTE_MS;

/** The wait after a failed attempt; undefined if no other follows. `attempts`: with this one. `random`: from 0 to 1. */
export function retryWaitMs(attempts: number, askedMs: number, random: number): number | undefined {
  const wait = RETRY_WAITS_MS[attempts - 1];
  if (wait === undefined) return undefined;
  return Math.max(wait * (1 + JITTER * random), Math.min(askedMs, ASKED_WAIT_MS_MAX));
}

/** How long all deliveries of a webhook wait after `failures` in a row: a dead receiver costs an attempt in five minutes. */
export function pauseMs(failures: number): number {
  if (failures <= FAILURES_WITHOUT_PAUSE) return 0;
  return doubledMs(PAUSE_MS_MIN, failures - FAILURES_WITHOUT_PAUSE, PAUSE_MS_MAX);
}
