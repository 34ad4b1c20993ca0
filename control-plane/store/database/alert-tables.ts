// The tables of alerts, and of what was told of them.
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
  /** What must get larger before it counts; null where it counts as it is. */
  reading: number | null;
  since: Date;
  seen_at: Date;
  /** Since when it counts. */
  raised_at: Date | null;
  /** Since when it is critical, while it still counts as a warning. */
  worse_since: Date | null;
  /** Since when nothing is wrong any more. */
  well_since: Date | null;
  recovered_at: Date | null;
}

/** A message on one channel; what it tells is in `alert_tidings`. */
export interface AlertMessagesTable {
  id: string;
  channel: AlertChannelName;
  state: 'open' | 'sent' | 'given_up';
  created_at: Date;
  /** Counted before each begins. */
  attempts: ColumnType<number, undefined, number>;
  /** An instance is sending it, unless it died. */
  claimed_until: ColumnType<Date | null, undefined, Date | null>;
  retry_at: ColumnType<Date | null, undefined, Date | null>;
}

export interface AlertTidingsTable {
  alert_id: string;
  change: 'raised' | 'escalated' | 'recovered';
  channel: AlertChannelName;
  message_id: string;
  /** As the alert was when the message was made: each attempt tells the same. */
  severity: Severity;
  summary: string;
  advice: string;
}

export interface AlertTables {
  alerts: AlertsTable;
  alert_messages: AlertMessagesTable;
  alert_tidings: AlertTidingsTable;
}
