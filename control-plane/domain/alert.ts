// A trouble, and the alert about it.
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import type { AlertKind } from './alert-kinds.ts';

/** The words for a trouble. */
const troubleSchema = z.object({
  /** A newer instance beside this one stores kinds that this one does not know. */
  kind: z.custom<AlertKind>((kind) => typeof kind === 'string'),
  /** A node, `node/slot`, `node/alarm`, a subscription, a payment, a chain, a card (ICCID) or `pool`. Never a number or a wallet. */
  subject: z.string(),
  /** `critical`: customers cannot buy, or one does not get what was paid for. */
  severity: z.enum(['warning', 'critical']),
  /** One line. */
  summary: z.string(),
  /** The next step for the operator, one line. */
  advice: z.string(),
});
export type Severity = z.output<typeof troubleSchema>['severity'];

/** Something is wrong now. */
export interface AlertTrouble extends z.output<typeof troubleSchema> {
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
const alertRowSchema = troubleSchema.extend({
  id: z.string(),
  raised_at: timeOutput,
  /** Null while it lasts. */
  recovered_at: timeOutput.nullable(),
});
export type AlertRow = z.output<typeof alertRowSchema>;

/** An alert of the list. */
export const listedAlertSchema = alertRowSchema.extend({
  /** Since when the trouble is gone; null while it lasts. */
  well_since: timeOutput.nullable(),
});
export type ListedAlert = z.output<typeof listedAlertSchema>;

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
