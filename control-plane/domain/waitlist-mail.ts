// What becomes of an entry of the waitlist after an attempt to mail it.

/** Where the link of a mail leads. */
export const UNSUBSCRIBE_PATH = '/waitlist/unsubscribe';

/** Between two mails to an address, however often the pool opens and whoever registers it. */
export const MAIL_INTERVAL_MS = 7 * 24 * 60 * 60 * 1000;

const MINUTE_MS = 60_000;

/** How an attempt ended. */
export type MailOutcome =
  | 'sent'
  /** The server knows no such address. */
  | 'address_refused'
  /** It takes this mail neither now nor later. */
  | 'mail_refused'
  /** It does not take it now, or ended the session when it heard the address. */
  | 'deferred'
  /** The connection was lost while it had some of the mail or all of it. */
  | 'unknown'
  /** It did not hear of the entry: there was no session, or it does not take us. */
  | 'unavailable';

export type NextStep =
  | { step: 'done' | 'forget_address' | 'wait_for_next_opening' | 'release' }
  | { step: 'retry'; afterMs: number };

/** Seven hours, with the waits below. */
const ATTEMPTS_MAX = 12;

/** Each of them may have been one mail more. */
const UNKNOWN_ATTEMPTS_MAX = 3;

const RETRY_MS_MAX = 60 * MINUTE_MS;
const PAUSE_MS_MAX = 15 * MINUTE_MS;

/** `attempt`: from 1, of this opening. */
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
      return { step: 'retry', afterMs: doubled(MINUTE_MS, attempt, RETRY_MS_MAX) };
    }
  }
}

/** An attempt was begun so often and not one came to an end: whoever tries it dies of it. */
export const isHopeless = (attempt: number): boolean => attempt > ATTEMPTS_MAX;

/** Sessions in a row that a server ended over an address: not all of them are the fault of the address. */
export const LOST_SESSIONS_MAX = 3;

/** How long nothing is sent to anybody after `troubles` in a row of the server itself. */
export const pauseAfter = (troubles: number): number => doubled(MINUTE_MS, troubles, PAUSE_MS_MAX);

/** `first` for 1, twice as much for each after it. */
const doubled = (first: number, count: number, max: number): number =>
  Math.min(first * 2 ** (count - 1), max);
