// A channel that delivers alerts to an operator, and the next step after an attempt.
import { doubledMs } from '#shared/back-off.ts';
import type { AlertChannelName, AlertMessage } from '../domain/alert.ts';

export interface AlertChannel {
  readonly name: AlertChannelName;
  /** Never rejects, and takes at most 90 s. `signal` aborts it. */
  send(message: AlertMessage, options: { isTest: boolean; signal: AbortSignal }): Promise<Delivery>;
}

export interface Delivery {
  outcome:
    | 'sent'
    /** The receiver rejected the message. */
    | 'refused'
    /** The receiver did not respond, or could not be reached. */
    | 'unavailable'
    /** The connection was lost when the receiver may have had the whole message, and it does not recognize repeated ids. */
    | 'unknown'
    /** The receiver wants no further messages. */
    | 'gone';
  /** For the log and for tests of the channel. Contains no address, no URL and no text of the receiver. */
  detail: string;
  /** The receiver asked to wait this long. */
  retryAfterMs?: number;
}

const FIRST_PAUSE_MS = 15_000;
const PAUSE_MS_MAX = 15 * 60_000;

/** A little more than a day of attempts. */
const ATTEMPTS_MAX = 100;

/** Each of these attempts may have delivered one more mail. */
const UNKNOWN_ATTEMPTS_MAX = 3;

type NextStep = { step: 'sent' | 'give_up' } | { step: 'retry'; afterMs: number };

/** `attempt`: from 1. */
export function afterDelivery({ outcome, retryAfterMs = 0 }: Delivery, attempt: number): NextStep {
  if (outcome === 'sent') return { step: 'sent' };
  if (outcome === 'unknown' && attempt >= UNKNOWN_ATTEMPTS_MAX) return { step: 'sent' };
  if (outcome === 'gone' || attempt >= ATTEMPTS_MAX) return { step: 'give_up' };
  const pauseMs = doubledMs(FIRST_PAUSE_MS, attempt, PAUSE_MS_MAX);
  return { step: 'retry', afterMs: Math.max(pauseMs, Math.min(retryAfterMs, PAUSE_MS_MAX)) };
}
