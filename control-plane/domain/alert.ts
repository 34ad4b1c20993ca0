// A trouble, and the alert that an operator gets of it.
import type { AlertKind } from './alert-kinds.ts';

/** `critical`: somebody cannot buy, or a payer waits for his money's worth. */
export type Severity = 'warning' | 'critical';

/** Something is wrong now. */
export interface Trouble {
  kind: AlertKind;
  /** A node, `node/slot`, a payment, a chain or `pool`. Never a number or a wallet. */
  subject: string;
  severity: Severity;
  /** One line. */
  summary: string;
  /** What to do about it, one line. */
  advice: string;
  /** What must get larger for the trouble to count; null where it counts as it is. */
  reading: number | null;
}

/** A trouble that was seen and is not over; only when it counts, somebody is told. */
export interface OpenAlert extends Trouble {
  id: string;
  /** Without a gap. */
  since: Date;
  seenAt: Date;
  raisedAt: Date | null;
  /** Since when it is critical, while it still counts as a warning; null else. */
  worseSince: Date | null;
  /** Since when nothing is wrong any more; null while something is. */
  wellSince: Date | null;
  recoveredAt: Date | null;
}

/** When a trouble counts, and when it is over. */
export interface AlertRule {
  /** It must last for so long; so must being critical, of one that was raised as a warning. */
  raiseAfterMs: number;
  /** All must be well for so long: what comes and goes is told once. */
  recoverAfterMs: number;
}

/** A trouble that counted, as it is now, or as it was when somebody was told of it. */
export interface AlertRow extends Omit<Trouble, 'reading'> {
  id: string;
  raised_at: Date;
  /** Null while it goes on. */
  recovered_at: Date | null;
}

/** One message about all that changed. */
export interface AlertMessage {
  /** The same however often it is tried. */
  id: string;
  createdAt: Date;
  raised: readonly AlertRow[];
  /** Critical now; an earlier message had them as warnings. */
  escalated: readonly AlertRow[];
  recovered: readonly AlertRow[];
}

/** The ways in which an operator gets alerts. */
export const ALERT_CHANNELS = ['webhook', 'mail'] as const;
export type AlertChannelName = (typeof ALERT_CHANNELS)[number];

export const keyOf = ({ kind, subject }: Pick<Trouble, 'kind' | 'subject'>): string => `${kind} ${subject}`;
