// Kysely types of the tables that decide which texts a subscription may send.
import type { OutboundStatus, SendingLimit } from '#shared/api/answers.ts';
import type { FailureClass } from '#shared/sms/failure-class.ts';

/** Whether a sender, as `peerKeyOf` writes it, stopped the texts of a subscription. */
interface OptOutsTable {
  subscription_id: string;
  peer: string;
  is_opted_out: boolean;
  /** When the last keyword was sent. */
  changed_at: Date;
}

/** Segments that were handed to a node in the last day. */
interface RecentSendsTable {
  command_id: string;
  /** From 1. */
  segment: number;
  subscription_id: string;
  /** Digests. */
  recipient: string;
  content: string;
  sent_at: Date;
}

/** Texts of subscribers, for the figures of slots and carriers. */
interface SentTextsTable {
  command_id: string;
  /** The slot, and the carrier as its modem reported it, when the text was sent. */
  node_id: string;
  slot: string;
  carrier: string | null;
  status: OutboundStatus;
  failure_class: FailureClass | null;
  /** From the request until the service had the report; null without one. */
  report_ms: number | null;
  sent_at: Date;
}

/** The last time that a number nearly or fully used one of its sending limits. */
interface SendingWarningsTable {
  subscription_id: string;
  sending_limit: SendingLimit;
  used: number;
  max: number;
  at: Date;
}

export interface SendingTables {
  opt_outs: OptOutsTable;
  recent_sends: RecentSendsTable;
  sending_warnings: SendingWarningsTable;
  sent_texts: SentTextsTable;
}
