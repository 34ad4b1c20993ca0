// Kysely types of the tables for operators and their actions, alerts, delivery probes and samples of the fleet.
import type { ColumnType, Generated } from 'kysely';
import type { AlertChannelName, AlertTrouble, Severity } from '../../domain/alert.ts';

/** `begun`: a command to a node whose result has not been recorded. `failed`: an internal error. */
export const AUDIT_RESULTS = ['begun', 'ok', 'refused', 'failed'] as const;
export type AuditResult = (typeof AUDIT_RESULTS)[number];

/** Every change that was requested, with its result. */
interface AuditLogTable {
  id: Generated<number>;
  at: Date;
  /** "command line", the name of an operator, or "probe". */
  actor: string;
  /** The procedure of the operator API. */
  action: string;
  /** Target of the action: a number, a payment, "node" or "node/slot". */
  subject: string;
  /** Contains no secrets. */
  detail: ColumnType<Record<string, unknown>, string, string>;
  result: AuditResult;
  /** Why it was not done. */
  why: string | null;
}

/** Slots that are, or once were, out of service. */
interface SlotServiceTable {
  node_id: string;
  slot: string;
  /** Set while the number in the slot is not sold. A current subscriber keeps it. */
  out_of_service_at: Date | null;
  reason: string | null;
  by: 'operator' | 'probe' | null;
  /** Probes that began earlier do not count for or against the slot. */
  judged_from: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

export const PROBE_KINDS = ['sms', 'call'] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];
/** `abandoned`: no evidence about either end. */
export const PROBE_RESULTS = ['delivered', 'failed', 'abandoned'] as const;
export type ProbeResult = (typeof PROBE_RESULTS)[number];
export const PROBE_ENDS = ['sender', 'recipient', 'either'] as const;
export type ProbeEnd = (typeof PROBE_ENDS)[number];

/** One text or call between two SIMs of the service. */
interface ProbesTable {
  /** Also the id of its command and of its call. */
  id: string;
  /** Counts up in the order in which probes began. */
  position: Generated<number>;
  kind: ProbeKind;
  /** False if an operator requested the probe. */
  is_scheduled: boolean;
  /** It proves the number of a SIM that is not admitted yet. It is no evidence about slots. */
  is_admission: ColumnType<boolean, boolean | undefined, never>;
  /** Its recipient was a sold number. It is no evidence about slots. */
  to_subscriber: ColumnType<boolean, boolean | undefined, never>;
  /** The key of the fact that brought the text, and when that was stored: it may be later than `ended_at`. */
  arrived_by: ColumnType<string | null, undefined, string>;
  arrived_at: ColumnType<Date | null, undefined, Date>;
  /** SHA-256 of the secret in the text of the probe. */
  token_digest: Buffer;
  from_number: string;
  from_iccid: string;
  from_node: string;
  from_slot: string;
  from_carrier: string | null;
  to_number: string;
  to_iccid: string;
  to_node: string;
  to_slot: string;
  to_carrier: string | null;
  started_at: Date;
  /** A probe without a result by then has failed, even if its instance died. */
  deadline_at: Date;
  ended_at: ColumnType<Date | null, undefined, Date | null>;
  /** Null while the probe is under way. */
  result: ColumnType<ProbeResult | null, undefined, ProbeResult | null>;
  /** The end that may have caused the failure. */
  failed_end: ColumnType<ProbeEnd | null, undefined, ProbeEnd | null>;
  why: ColumnType<string | null, undefined, string | null>;
  /** From the command to the fact, or to the first ring. */
  latency_ms: ColumnType<number | null, undefined, number | null>;
}

/** SIMs of sold numbers to which texts do not arrive. A row counts while its SIM is in this slot. */
interface UnreachedSimsTable {
  iccid: string;
  node_id: string;
  slot: string;
  since: Date;
}

/** When a subscription last received a text, at most a minute too early. It outlives the text. */
interface LastReceivedTable {
  subscription_id: string;
  at: Date;
}

/** One row: the instance that runs a round of probes. */
interface ProbeTurnTable {
  id: Generated<boolean>;
  held_by: string | null;
  held_until: Date | null;
}

export interface AlertsTable extends AlertTrouble {
  id: string;
  since: Date;
  seen_at: Date;
  /** When the alert began to count. */
  raised_at: Date | null;
  /** The summary when it was raised, or when it became critical. An alert that is over shows it in place of the last one. */
  cause: string | null;
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

interface OperatorsTable {
  name: string;
  /** SHA-256 of the key. */
  key_hash: Buffer;
  created_at: Date;
}

/** Open sessions of the console. */
interface OperatorSessionsTable {
  /** SHA-256 of the session token in the browser's cookie. */
  hash: Buffer;
  operator: string;
  created_at: Date;
  used_at: Date;
}

/** The state of the fleet in one minute. A column is null if it was not measured. */
interface FleetSamplesTable {
  /** When the minute begins. */
  at: Date;
  slots_up: number | null;
  slots: number | null;
  available: number | null;
  held: number | null;
  calls_up: number | null;
  sms_sent: number;
  sms_delivered: number;
  sms_failed: number;
  sms_received: number;
  calls_answered: number;
  calls_failed: number;
  /** Audio frames (20 ms) of the calls that ended in this minute, and how many of them were lost. */
  audio_frames: number;
  audio_gaps: number;
}

interface NodeSamplesTable {
  node_id: string;
  at: Date;
  /** Signal in dBm by slot. */
  signals: ColumnType<Record<string, number>, string, string>;
}

export interface OperationTables {
  audit_log: AuditLogTable;
  slot_service: SlotServiceTable;
  probes: ProbesTable;
  probe_turn: ProbeTurnTable;
  unreached_sims: UnreachedSimsTable;
  last_received: LastReceivedTable;
  alerts: AlertsTable;
  alert_messages: AlertMessagesTable;
  alert_tidings: AlertTidingsTable;
  operators: OperatorsTable;
  operator_sessions: OperatorSessionsTable;
  fleet_samples: FleetSamplesTable;
  node_samples: NodeSamplesTable;
}
