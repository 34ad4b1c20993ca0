// The tables as Kysely sees them: one interface a table, columns as in the newest migration.
import type { ColumnType, Generated } from 'kysely';
import type { OutboundStatus } from '#shared/api/answers.ts';
import type { AudioStatistics, CallDirection, LiveCallState } from '#shared/voice/call.ts';
import type { EndReason } from '#shared/voice/release-cause.ts';
import type { SignedBy } from '../../domain/transfer-authorization.ts';
import type { PaymentState } from '../../payments/payment.ts';
import type { AlertTables } from './alert-tables.ts';
import type { ConsoleTables } from './console-tables.ts';
import type { OperationTables } from './operation-tables.ts';
import type { SimTables } from './sim-tables.ts';

export interface SubscriptionsTable {
  id: string;
  wallet: string;
  number: string;
  created_at: Date;
  expires_at: Date;
  /** Since when housekeeping finds it past its grace time; null while it does not. */
  lapsed_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /** The chain whose code speaks for the wallet; null where its key does, on every chain. */
  account_chain_id: ColumnType<number | null, number | null | undefined, number | null>;
}

export interface NumbersTable {
  number: string;
  /** Unique among numbers that are not retired. */
  iccid: string;
  created_at: Date;
  /** Set while it is not sold; who holds it keeps it. */
  out_of_service_at: ColumnType<Date | null, undefined, Date | null>;
  out_of_service_reason: ColumnType<string | null, undefined, string | null>;
  /** Set once it is gone for good. */
  retired_at: ColumnType<Date | null, undefined, Date | null>;
  /** Not sold before: messages for who had it still come. */
  quarantined_until: ColumnType<Date | null, undefined, Date | null>;
  /** Set until its SIM is admitted: it is not sold. */
  unadmitted_since: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /**
   * `number`: only a node said that its SIM has it. `holder`: it was imported, and only a node said that it has the SIM.
   * Null once a probe or an operator has confirmed it.
   */
  unproven: ColumnType<Unproven | null, Unproven | null | undefined, Unproven | null>;
  /** Since when SIMs of several nodes have reported it; null once an operator or a probe has said which one has it. */
  disputed_since: ColumnType<Date | null, undefined, Date | null>;
  /** The only node that may hold its SIM, until it has. */
  first_node: ColumnType<string | null, string | null | undefined, string | null>;
}

export type Unproven = 'holder' | 'number';

/** SIMs that report a number which is listed with another one, and nobody has proven. */
export interface NumberRivalsTable {
  iccid: string;
  number: string;
  since: Date;
}

/** The last holding of a number, on a SIM, that has ended. */
export interface FormerHoldingsTable {
  number: string;
  iccid: string;
  held_from: Date;
  held_until: Date;
}

export interface SimsTable {
  iccid: string;
  node_id: string;
  slot: string;
  device_id: string | null;
  state: string;
  operator: string | null;
  signal_dbm: number | null;
  model: string | null;
  usb_path: string | null;
  /** Why it is not in service. */
  reason: string | null;
  /** Places of the storage that its messages are received into; null where the node does not tell. */
  storage_used: ColumnType<number | null, number | null | undefined, number | null>;
  storage_total: ColumnType<number | null, number | null | undefined, number | null>;
  /** The subscription for which the node confirmed the SIM where it sits now. */
  bound_to: ColumnType<string | null, string | null | undefined, string | null>;
  /** When its last sweep began, as its node tells; null where it tells none. Never after its row was written. */
  swept_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  updated_at: Date;
}

export interface NodesTable {
  id: string;
  /** Set while a link is up; a newer link of the same node overwrites it. */
  link_id: string | null;
  /** The link counts as up until then; renewed by each heartbeat, so that a dead instance's links end. When it ended, after that. */
  link_alive_until: Date | null;
  /** Ed25519, 32 bytes; null before the first enrolment. */
  public_key: Buffer | null;
  enrolled_at: Date | null;
  /** Set while its key waits for an operator's word; it has no link until then. */
  approval_pending_since: ColumnType<Date | null, undefined, Date | null>;
  revoked_at: Date | null;
  /** SHA-256 of the newest enrolment code. */
  code_hash: Buffer | null;
  code_expires_at: Date | null;
  /** The key that the code was used for; null while it was not. */
  code_key: Buffer | null;
  /** Troubles of the node as it told them last. */
  alarms: ColumnType<string[], string[] | undefined, string[]>;
  /** Facts that waited at the node when it spoke last; null where it does not tell. */
  journal_depth: ColumnType<number | null, undefined, number | null>;
  /** Set while it takes no SIM that it does not hold: it claimed several that other nodes report. */
  claims_suspended_at: ColumnType<Date | null, undefined, Date | null>;
  /** SIMs of a day that it reported and nobody knows: a few more than it may. */
  new_sims: ColumnType<string[], undefined, string[]>;
  new_sims_since: ColumnType<Date | null, undefined, Date | null>;
  /** Set once an operator has approved that it reports many. */
  new_sims_approved_at: ColumnType<Date | null, undefined, Date | null>;
  /** Received SMS of SIMs whose number nobody held: they are not kept. */
  unheld_messages: ColumnType<number, number | undefined, number>;
}

export interface LinkProofsTable {
  node_id: string;
  random: string;
  expires_at: Date;
}

export interface NodeEventsTable {
  id: Generated<number>;
  node_id: string;
  slot: string;
  kind: string;
  detail: string;
  at: Date;
  received_at: Date;
}

export interface JournalsTable {
  node_id: string;
  journal_id: string;
  acknowledged: number;
}

export interface TokensTable {
  hash: Buffer;
  subscription_id: string;
  created_at: Date;
}

export interface NoncesTable {
  nonce: string;
  expires_at: Date;
}

export interface PaymentsTable {
  id: string;
  chain_id: number;
  asset: string;
  payer: string;
  nonce: string;
  pay_to: string;
  value: string;
  valid_after: string;
  valid_before: string;
  signature: string;
  state: PaymentState;
  reserved_number: string | null;
  raw_transaction: string | null;
  transaction_hash: string | null;
  transaction_nonce: number | null;
  subscription_id: string | null;
  failure: string | null;
  /** The transaction that brought the money, once it was seen on the chain. */
  transfer_hash: string | null;
  signed_by: ColumnType<SignedBy, SignedBy | undefined, SignedBy>;
  /** The transfer runs code of the payer's. */
  runs_code: Generated<boolean>;
  /** How often the reconciler found nothing new. */
  checks: ColumnType<number, number | undefined, number>;
  next_check_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /** Since when no reorganisation can take the transfer back. */
  final_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  created_at: Date;
  updated_at: Date;
}

/** What happened to a payment, in the order of ids: its state afterwards, and why. */
export interface PaymentEventsTable {
  id: Generated<number>;
  payment_id: string;
  state: PaymentState;
  transaction_hash: string | null;
  why: string | null;
  at: Date;
}

/** The transaction that sends a payment back, stored before it is broadcast. */
export interface RefundsTable {
  payment_id: string;
  chain_id: number;
  sender: string;
  nonce: number;
  raw_transaction: string;
  transaction_hash: string;
  created_at: Date;
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
  /** Its status is the end that the carrier reported: nothing else changes it. */
  ended_by_report: ColumnType<boolean, boolean | undefined, boolean>;
}

/** One row. */
export interface MessageRetentionTable {
  /** A reading of the clock that later ones confirm, or contradict. */
  read_at: Date | null;
  /** The newest that was confirmed. */
  confirmed_at: Date | null;
}

export interface UnreadableMessagesTable {
  fact_key: string;
  iccid: string;
  pdu: string;
  reason: string;
  received_at: Date;
}

/** What the stream of a call did not carry. Frames are of 20 ms. */
export interface StreamStatistics {
  /** Frames of the client that fell out of the queue: it sent faster than real time for too long. */
  overflow_frames: number;
  /** Frames of the far end that the client did not take in time. */
  undelivered_frames: number;
}

export interface CallsTable {
  id: string;
  /** Counts up in the order in which calls became known. */
  position: Generated<number>;
  /** Who held the number when the call began; null when nobody did. */
  subscription_id: string | null;
  /** Null for a SIM whose number is not known. */
  number: string | null;
  iccid: string;
  node_id: string;
  direction: CallDirection;
  /** The far end; null where it is withheld. */
  peer: string | null;
  state: LiveCallState | 'ended';
  /** Never changes: the list is in its order. */
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
  /** Its end is the node's word: nothing else changes it. */
  ended_by_node: ColumnType<boolean, boolean | undefined, boolean>;
  /** When an instance last knew of it; one that nobody knows of any more has ended. */
  seen_at: Date;
}

export interface SecretsTable {
  name: string;
  value: string;
}

/** One row: whether there was anything to sell when somebody looked last. */
export interface PoolTable {
  is_open: boolean;
  /** How often it went from empty to not empty. */
  opening: number;
}

export interface WaitlistTable {
  id: string;
  /** As it was written first. */
  email: string;
  /** What is compared. */
  email_key: string;
  unsubscribe_token: string;
  registered_at: Date;
  /** `refused`: the mail server does not know the address. */
  state: 'waiting' | 'notified' | 'refused';
  /** Openings after this one are told. */
  after_opening: number;
  /** The opening that was mailed, or tried, last. */
  mail_opening: ColumnType<number | null, undefined, number | null>;
  /** To mail that opening; counted before each begins. */
  attempts: ColumnType<number, undefined, number>;
  /** An instance is mailing, unless it died. */
  claimed_until: ColumnType<Date | null, undefined, Date | null>;
  /** No attempt for that opening is made before. */
  retry_at: ColumnType<Date | null, undefined, Date | null>;
  /** The last mail, also one that may have been taken. */
  notified_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

/** Of those that left the waitlist, for a week after their last mail. */
export interface WaitlistMailedTable {
  /** SHA-256 of the `email_key`, in hexadecimal. */
  email_hash: string;
  mailed_at: Date;
}

export interface Tables extends AlertTables, ConsoleTables, OperationTables, SimTables {
  subscriptions: SubscriptionsTable;
  numbers: NumbersTable;
  number_rivals: NumberRivalsTable;
  former_holdings: FormerHoldingsTable;
  sims: SimsTable;
  nodes: NodesTable;
  link_proofs: LinkProofsTable;
  node_events: NodeEventsTable;
  journals: JournalsTable;
  tokens: TokensTable;
  nonces: NoncesTable;
  payments: PaymentsTable;
  payment_events: PaymentEventsTable;
  refunds: RefundsTable;
  messages: MessagesTable;
  unreadable_messages: UnreadableMessagesTable;
  message_retention: MessageRetentionTable;
  calls: CallsTable;
  secrets: SecretsTable;
  pool: PoolTable;
  waitlist: WaitlistTable;
  waitlist_mailed: WaitlistMailedTable;
}
