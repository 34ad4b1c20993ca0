// Kysely types: one interface per table, with the columns of the newest migration.
import type { ColumnType, Generated } from 'kysely';
import type { OutboundStatus } from '#shared/api/answers.ts';
import type { AskedAnswerer, AudioStatistics, CallDirection, LiveCallState } from '#shared/voice/call.ts';
import type { EndReason } from '#shared/voice/release-cause.ts';
import type { OptOutType } from '../../domain/opt-out.ts';
import type { OperationTables } from './operation-tables.ts';
import type { PaymentTables } from './payment-tables.ts';
import type { ReceiptTables } from './receipt-tables.ts';
import type { SendingTables } from './sending-tables.ts';
import type { SimTables } from './sim-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';

export interface SubscriptionsTable {
  id: string;
  wallet: string;
  number: string;
  created_at: Date;
  expires_at: Date;
  /** When housekeeping first found the grace period over; null before. */
  lapsed_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /** The chain of the wallet's contract account; null for a wallet with a key, which is valid on every chain. */
  account_chain_id: ColumnType<number | null, number | null | undefined, number | null>;
}

interface NumbersTable {
  number: string;
  /** Unique among numbers that are not retired. */
  iccid: string;
  created_at: Date;
  /** Set while the number is not sold. A current subscriber keeps it. */
  out_of_service_at: ColumnType<Date | null, undefined, Date | null>;
  out_of_service_reason: ColumnType<string | null, undefined, string | null>;
  /** Set when the number was removed for good. */
  retired_at: ColumnType<Date | null, undefined, Date | null>;
  /** Not sold before: messages for the previous subscriber may still arrive. */
  quarantined_until: ColumnType<Date | null, undefined, Date | null>;
  /** Set until the SIM is admitted: the number is not sold. */
  unadmitted_since: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /**
   * `number`: only a node says that the SIM has this number. `holder`: the number was imported, and only a node says that it has the SIM.
   * `moved`: the same of a card that an operator gave to the number. That node counts as its holder if the card turns up at another one.
   * Null once a probe or an operator has confirmed it.
   */
  unproven: ColumnType<Unproven | null, Unproven | null | undefined, Unproven | null>;
  /** When SIMs of several nodes first reported it. Null once an operator or a probe has decided which SIM has it. */
  disputed_since: ColumnType<Date | null, undefined, Date | null>;
  /** The only node that may become the first holder of its SIM; null afterwards. */
  first_node: ColumnType<string | null, string | null | undefined, string | null>;
}

type Unproven = 'holder' | 'moved' | 'number';

/** SIMs that report, without proof, a number that is listed with another SIM. */
interface NumberRivalsTable {
  iccid: string;
  number: string;
  since: Date;
}

/** The card and the number that a subscriber had before an operator gave another one. */
interface FormerCardsTable {
  iccid: string;
  subscription_id: string;
  number: string;
  until: Date;
}

/** The last ended holding of a number on a SIM. */
interface FormerHoldingsTable {
  number: string;
  iccid: string;
  held_from: Date;
  held_until: Date;
}

interface SimsTable {
  iccid: string;
  node_id: string;
  slot: string;
  device_id: string | null;
  state: string;
  operator: string | null;
  signal_dbm: number | null;
  model: string | null;
  usb_path: string | null;
  /** Why the slot is not in service. */
  reason: string | null;
  /** Capacity of the storage that receives messages; null if the node does not report it. */
  storage_used: ColumnType<number | null, number | null | undefined, number | null>;
  storage_total: ColumnType<number | null, number | null | undefined, number | null>;
  /** The subscription for which the node confirmed the SIM in its present slot. */
  bound_to: ColumnType<string | null, string | null | undefined, string | null>;
  /** When the last sweep began, as the node reports it; null if it reports none. Never later than the time at which the row was written. */
  swept_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  updated_at: Date;
}

interface NodesTable {
  id: string;
  /** Set while a link is up; a newer link of the same node overwrites it. */
  link_id: string | null;
  /** The link is up until then. Heartbeats extend it; a dead instance sends none. After the link: when it ended. */
  link_alive_until: Date | null;
  /** Ed25519, 32 bytes; null before the first enrollment. */
  public_key: Buffer | null;
  enrolled_at: Date | null;
  /** Set while its key waits for an operator's approval; it has no link before. */
  approval_pending_since: ColumnType<Date | null, undefined, Date | null>;
  revoked_at: Date | null;
  /** SHA-256 of the newest enrollment code. */
  code_hash: Buffer | null;
  code_expires_at: Date | null;
  /** The key that used the code; null if it is unused. */
  code_key: Buffer | null;
  /** Alarms of the node's last report. */
  alarms: ColumnType<string[], string[] | undefined, string[]>;
  /** Facts in the node's journal at its last report; null if the node does not report it. */
  journal_depth: ColumnType<number | null, undefined, number | null>;
  /** Set while the node gets no further SIMs: it claimed several that other nodes report. */
  claims_suspended_at: ColumnType<Date | null, undefined, Date | null>;
  /** Unknown SIMs that the node reported in one day, up to a few more than the limit. */
  new_sims: ColumnType<string[], undefined, string[]>;
  new_sims_since: ColumnType<Date | null, undefined, Date | null>;
  /** Set once an operator has approved that the node reports many new SIMs. */
  new_sims_approved_at: ColumnType<Date | null, undefined, Date | null>;
  /** Received SMS that were not kept because the number had no subscriber. */
  unheld_messages: ColumnType<number, number | undefined, number>;
}

interface LinkProofsTable {
  node_id: string;
  random: string;
  expires_at: Date;
}

interface NodeEventsTable {
  id: Generated<number>;
  node_id: string;
  slot: string;
  kind: string;
  detail: string;
  at: Date;
  received_at: Date;
}

interface JournalsTable {
  node_id: string;
  journal_id: string;
  acknowledged: number;
  begun_at: Generated<Date>;
}

interface TokensTable {
  hash: Buffer;
  subscription_id: string;
  created_at: Date;
}

interface NoncesTable {
  nonce: string;
  expires_at: Date;
}

export interface MessagesTable {
  id: Generated<number>;
  subscription_id: string;
  direction: 'sent' | 'received';
  from_number: string;
  to_number: string;
  body: string;
  message_id: string | null;
  status: OutboundStatus | null;
  command_id: string | null;
  command_node_id: string | null;
  fact_key: string | null;
  partial: ColumnType<boolean, boolean | undefined, boolean>;
  created_at: Date;
  received_at: Date | null;
  delivered_at: Date | null;
  /** Segments that the carrier reported as delivered, from 1. */
  delivered_parts: ColumnType<number[], number[] | undefined, number[]>;
  /** The carrier reported the final status: nothing else changes it. */
  ended_by_report: ColumnType<boolean, boolean | undefined, boolean>;
  /** Set for a received text that was a keyword: `stop` ended texts to its sender, `start` allowed them again. */
  opt_out_type: ColumnType<OptOutType | null, OptOutType | null | undefined, OptOutType | null>;
  /** Set for the announcement of an MMS. */
  mms: ColumnType<AnnouncedMms | null, string | null | undefined, string | null>;
  /** Opens the digest in the receipt, and is deleted with the message. */
  receipt_salt: Generated<string>;
}

/** An MMS as its carrier announced it. */
export interface AnnouncedMms {
  transaction_id: string;
  size_bytes: number | null;
  /** RFC 3339. */
  expires_at: string | null;
}

/** One row. */
interface MessageRetentionTable {
  /** A reading of the clock that later readings confirm or contradict. */
  read_at: Date | null;
  /** The newest reading that was confirmed. */
  confirmed_at: Date | null;
}

interface UnreadableMessagesTable {
  fact_key: string;
  iccid: string;
  pdu: string;
  reason: string;
  received_at: Date;
}

/** Audio that the stream of a call did not carry. A frame is 20 ms. */
export interface StreamStatistics {
  /** Frames of the client that were dropped from the full queue: it sent faster than real time for too long. */
  overflow_frames: number;
  /** Frames of the far end that the client did not read in time. */
  undelivered_frames: number;
}

export interface CallsTable {
  id: string;
  /** Counts up in the order in which calls became known. */
  position: Generated<number>;
  /** The number's subscription when the call began; null if it had none. */
  subscription_id: string | null;
  /** Null for a SIM whose number is not known. */
  number: string | null;
  iccid: string;
  node_id: string;
  direction: CallDirection;
  /** The far end; null if it is withheld. */
  peer: string | null;
  state: LiveCallState | 'ended';
  /** Never changes: the list is sorted by it. */
  started_at: Date;
  answered_at: Date | null;
  ended_at: Date | null;
  reason: EndReason | null;
  /** ITU-T Q.850. */
  cause: number | null;
  /** As the node counted. */
  audio: ColumnType<AudioStatistics | null, string | null | undefined, string | null>;
  /** As the instance with the stream counted. */
  stream: ColumnType<StreamStatistics | null, string | null | undefined, string | null>;
  /** Whether a person or a machine answered; null if the client did not ask. */
  answered_by: AskedAnswerer | null;
  /** The node reported the end: nothing else changes it. */
  ended_by_node: ColumnType<boolean, boolean | undefined, boolean>;
  /** The last sign that the call was up: a report, a sign of life of its node, or audio. */
  up_at: Date;
  /** When an instance last vouched for the call. A call without an instance has ended. */
  seen_at: Date;
}

interface SecretsTable {
  name: string;
  value: string;
}

/** One row: whether any number was available at the last check. */
export interface PoolTable {
  is_open: boolean;
  /** How often the pool went from empty to not empty. */
  opening: number;
}

interface WaitlistTable {
  id: string;
  /** As it was first entered. */
  email: string;
  /** The mailbox, in lower case and without a tag. */
  email_key: string;
  unsubscribe_token: string;
  registered_at: Date;
  /** `refused`: the mail server does not know the address. */
  state: 'waiting' | 'notified' | 'refused';
  /** The entry gets a mail for openings after this one. */
  after_opening: number;
  /** The last opening for which a mail was tried. */
  mail_opening: ColumnType<number | null, undefined, number | null>;
  /** Attempts to mail that opening; the attempt that begins now is counted. */
  attempts: ColumnType<number, undefined, number>;
  /** Until then one instance sends the mail. The lease expires if that instance dies. */
  claimed_until: ColumnType<Date | null, undefined, Date | null>;
  /** The next attempt for that opening is not before. */
  retry_at: ColumnType<Date | null, undefined, Date | null>;
  /** When the last mail was sent, or may have been accepted. */
  notified_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

/** Addresses that left the waitlist, for a week after their last mail. */
interface WaitlistMailedTable {
  /** SHA-256 of the `email_key`, in hexadecimal. */
  email_hash: string;
  mailed_at: Date;
}

export interface Tables
  extends OperationTables,
    PaymentTables,
    ReceiptTables,
    SendingTables,
    WebhookTables,
    SimTables {
  subscriptions: SubscriptionsTable;
  numbers: NumbersTable;
  number_rivals: NumberRivalsTable;
  former_cards: FormerCardsTable;
  former_holdings: FormerHoldingsTable;
  sims: SimsTable;
  nodes: NodesTable;
  link_proofs: LinkProofsTable;
  node_events: NodeEventsTable;
  journals: JournalsTable;
  tokens: TokensTable;
  nonces: NoncesTable;
  messages: MessagesTable;
  unreadable_messages: UnreadableMessagesTable;
  message_retention: MessageRetentionTable;
  calls: CallsTable;
  secrets: SecretsTable;
  pool: PoolTable;
  waitlist: WaitlistTable;
  waitlist_mailed: WaitlistMailedTable;
}
