// Tables of alerts and of the messages that announce them.
import type { ColumnType } from 'kysely';
import type { AlertChannelName, Severity } from '../../domain/alert.ts';
import type { AlertKind } from '../../domain/alert-kinds.ts';

export interface AlertsTable {
  id: string;
  kind: AlertKind;
  subject: string;
  severity: Severity;
  summary: string;
  advice: string;
  /** The reading that must be exceeded before the alert counts; null where any reading counts. */
  reading: number | null;
  since: Date;
  seen_at: Date;
  /** When the alert began to count. */
  raised_at: Date | null;
  /** When it became critical; set while it still counts as a warning. */
  worse_since: Date | null;
  /** When the trouble ended; null while it lasts. */
  well_since: Date | null;
  recovered_at: Date | null;
}

/** A message on one channel. Its content is in `alert_tidings`. */
interface AlertMessagesTable {
  id: string;
  channel: AlertChannelName;
  state: 'open' | 'sent' | 'given_up';
  created_at: Date;
  /** The attempt that begins now is counted. */
  attempts: ColumnType<number, undefined, number>;
  /** Until then one instance sends the message. The lease expires if that instance dies. */
  claimed_until: ColumnType<Date | null, undefined, Date | null>;
  retry_at: ColumnType<Date | null, undefined, Date | null>;
}

interface AlertTidingsTable {
  alert_id: string;
  change: 'raised' | 'escalated' | 'recovered';
  channel: AlertChannelName;
  message_id: string;
  /** State of the alert when the message was composed: every attempt sends the same text. */
  severity: Severity;
  summary: string;
  advice: string;
}

export interface AlertTables {
  alerts: AlertsTable;
  alert_messages: AlertMessagesTable;
  alert_tidings: AlertTidingsTable;
}
