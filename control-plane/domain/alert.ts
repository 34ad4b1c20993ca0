// A trouble, and the alert about it.
import type { AlertKind } from './alert-kinds.ts';

/** `critical`: customers cannot buy, or one does not get what was paid for. */
export type Severity = 'warning' | 'critical';

/** Something is wrong now. */
export interface AlertTrouble {
  kind: AlertKind;
  /** A node, `node/slot`, `node/alarm`, a subscription, a payment, a chain, a card (ICCID) or `pool`. Never a number or a wallet. */
  subject: string;
  severity: Severity;
  /** One line. */
  summary: string;
  /** The next step for the operator, one line. */
  advice: string;
  /** The value that must grow for the trouble to count; null if it counts at any value. */
  reading: number | null;
  /** A recovery is under way, which names no cause: what an earlier check said stays. */
  isRecovering?: boolean;
  /**
   * True for a state that a slot, or its number, passes through while it starts. It is no cause if there is another; any other state is
   * the cause from now on. Undefined for troubles that keep the cause that they were raised for.
   */
  isPassing?: boolean;
}

/** A trouble that was seen and has not ended. It becomes an alert only once it counts. */
export interface OpenAlert extends AlertTrouble {
  id: string;
  /** Since when it has lasted without a gap. */
  since: Date;
  seenAt: Date;
  raisedAt: Date | null;
  /** The summary that names the cause; null while it is unknown. `summary` is the present state, and the cause once it is over. */
  cause: string | null;
  /** Since when it has been critical while it still counts as a warning; else null. */
  worseSince: Date | null;
  /** Since when the trouble is gone; null while it lasts. */
  wellSince: Date | null;
  recoveredAt: Date | null;
}

/** Delays before a trouble counts, and before it is over. */
export interface AlertRule {
  /** How long it must last. A raised warning must be critical for as long before it counts as critical. */
  raiseAfterMs: number;
  /** How long everything must be well, so that a trouble that comes and goes is one alert. */
  recoverAfterMs: number;
}

/** A trouble that counted, as it is now, or as it was when it was sent. */
export interface AlertRow extends Omit<AlertTrouble, 'reading' | 'isRecovering' | 'isPassing'> {
  id: string;
  raised_at: Date;
  /** Null while it lasts. */
  recovered_at: Date | null;
}

/** An alert of the list. */
export interface ListedAlert extends AlertRow {
  /** Since when the trouble is gone; null while it lasts. */
  well_since: Date | null;
}

/** One message about everything that changed. */
export interface AlertMessage {
  /** The same for every attempt. */
  id: string;
  createdAt: Date;
  raised: readonly AlertRow[];
  /** Critical now; an earlier message reported them as warnings. */
  escalated: readonly AlertRow[];
  recovered: readonly AlertRow[];
}

/** Channels that deliver alerts to an operator. */
export const ALERT_CHANNELS = ['webhook', 'mail'] as const;
export type AlertChannelName = (typeof ALERT_CHANNELS)[number];

export const alertKey = ({ kind, subject }: Pick<AlertTrouble, 'kind' | 'subject'>): string =>
  `${kind} ${subject}`;
