// What an operator is told of: kinds of trouble, and when one counts.

export const ALERT_KINDS = [
  ...(['node_offline', 'node_claims', 'slot_down', 'storage_full', 'journal_growing'] as const),
  ...(['relayer_low', 'chain_unavailable', 'payment_stuck', 'pool_low'] as const),
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** `critical`: somebody cannot buy, or a payer waits for his money's worth. */
export type Severity = 'warning' | 'critical';

/** Something is wrong now. */
export interface Trouble {
  kind: AlertKind;
  /** A node, `node/slot`, a payment, a chain, `pool`: no number, no wallet. */
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

/** Where an operator is told. */
export const ALERT_CHANNELS = ['webhook', 'mail'] as const;
export type AlertChannelName = (typeof ALERT_CHANNELS)[number];

export const keyOf = ({ kind, subject }: Pick<Trouble, 'kind' | 'subject'>): string => `${kind} ${subject}`;
