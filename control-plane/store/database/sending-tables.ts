// Kysely types of the tables that decide which texts a subscription may send.
import type { SendingLimit } from '#shared/api/answers.ts';

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
}
