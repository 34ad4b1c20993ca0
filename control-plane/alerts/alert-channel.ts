// A way to an operator, and what becomes of a message after an attempt to send it.
import type { AlertChannelName, AlertMessage } from '../domain/alert.ts';

export interface AlertChannel {
  readonly name: AlertChannelName;
  /** Never rejects, and takes no longer than a minute and a half. `signal` ends it. */
  send(message: AlertMessage, options: { isTest: boolean; signal: AbortSignal }): Promise<Delivery>;
}

export interface Delivery {
  outcome:
    | 'sent'
    /** It said no. */
    | 'refused'
    /** It did not answer, or was not there. */
    | 'unavailable'
    /** The connection was lost when it may have had all of it, and it does not know what it has by its id. */
    | 'unknown'
    /** It said that it wants none any more. */
    | 'gone';
  /** For the log and for who tries it out: no address, no URL, no text of the other side. */
  detail: string;
  /** It asked to be left alone for so long. */
  retryAfterMs?: number;
}

const FIRST_PAUSE_MS = 15_000;
const PAUSE_MS_MAX = 15 * 60_000;

/** Somewhat more than a day. */
const ATTEMPTS_MAX = 100;

/** Each of them may have been one mail more. */
const UNKNOWN_ATTEMPTS_MAX = 3;

export type NextStep = { step: 'sent' | 'give_up' } | { step: 'retry'; afterMs: number };

/** `attempt`: from 1. */
export function afterDelivery({ outcome, retryAfterMs = 0 }: Delivery, attempt: number): NextStep {
  if (outcome === 'sent') return { step: 'sent' };
  if (outcome === 'unknown' && attempt >= UNKNOWN_ATTEMPTS_MAX) return { step: 'sent' };
  if (outcome === 'gone' || attempt >= ATTEMPTS_MAX) return { step: 'give_up' };
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempt - 1, 16), PAUSE_MS_MAX);
  return { step: 'retry', afterMs: Math.max(pauseMs, Math.min(retryAfterMs, PAUSE_MS_MAX)) };
}
