// The next step for an entry of the waitlist after an attempt to mail it.
import { doubledMs } from '#shared/back-off.ts';

/** Path of the link in a mail. */
export const UNSUBSCRIBE_PATH = '/waitlist/unsubscribe';

/** Shortest time between two mails to an address, however often the pool opens or the address registers. */
export const MAIL_INTERVAL_MS = 7 * 24 * 60 * 60 * 1000;

const MINUTE_MS = 60_000;

/** How an attempt ended. */
export type MailOutcome =
  | 'sent'
  /** The server does not know the address. */
  | 'address_refused'
  /** The server refuses this mail for good. */
  | 'mail_refused'
  /** The server does not accept the mail now, or ended the session at the address. */
  | 'deferred'
  /** The connection was lost after the server had some or all of the mail. */
  | 'unknown'
  /** The server did not get the address: there was no session, or it refuses this sender. */
  | 'unavailable';

type NextStep =
  | { step: 'done' | 'forget_address' | 'wait_for_next_opening' | 'release' }
  | { step: 'retry'; afterMs: number };

/** Seven hours in all, with the waits below. */
const ATTEMPTS_MAX = 12;

/** Each of these attempts may have delivered one more mail. */
const UNKNOWN_ATTEMPTS_MAX = 3;

const RETRY_MS_MAX = 60 * MINUTE_MS;
const PAUSE_MS_MAX = 15 * MINUTE_MS;

/** `attempt`: from 1, for this opening. */
export function afterAttempt(outcome: MailOutcome, attempt: number): NextStep {
  switch (outcome) {
    case 'sent':
      return { step: 'done' };
    case 'address_refused':
      return { step: 'forget_address' };
    case 'mail_refused':
      return { step: 'wait_for_next_opening' };
    case 'unavailable':
      return { step: 'release' };
    default: {
      const attemptsMax = outcome === 'unknown' ? UNKNOWN_ATTEMPTS_MAX : ATTEMPTS_MAX;
      if (attempt >= attemptsMax) return { step: 'wait_for_next_opening' };
      return { step: 'retry', afterMs: doubledMs(MINUTE_MS, attempt, RETRY_MS_MAX) };
    }
  }
}

/** After this many attempts without an end, the entry probably kills the process. */
export const isHopeless = (attempt: number): boolean => attempt > ATTEMPTS_MAX;

/** Sessions in a row that a server ended at an address: they cannot all be the fault of the address. */
export const LOST_SESSIONS_MAX = 3;

/** Pause for all mails after `troubles` failures in a row of the server itself. */
export const pauseAfter = (troubles: number): number => doubledMs(MINUTE_MS, troubles, PAUSE_MS_MAX);
