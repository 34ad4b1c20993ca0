// Tables of what operators do, and of delivery probes, as Kysely sees them.
import type { ColumnType, Generated } from 'kysely';

/** `begun`: a command to a node whose end nobody has noted; `failed`: by a fault of ours. */
export type AuditResult = 'begun' | 'ok' | 'refused' | 'failed';

/** Every change that somebody asked for, whatever came of it. */
export interface AuditLogTable {
  id: Generated<number>;
  at: Date;
  /** Who asked: "command line", the name of an operator, or "probe". */
  actor: string;
  /** The call of the desk. */
  action: string;
  /** On what: a number, a payment, "node" or "node/slot". */
  subject: string;
  /** Without secrets. */
  detail: ColumnType<Record<string, unknown>, string, string>;
  result: AuditResult;
  /** Of what was not done. */
  why: string | null;
}

/** Slots that are, or once were, out of service. */
export interface SlotServiceTable {
  node_id: string;
  slot: string;
  /** Set while the number in it is not sold; who holds it keeps it. */
  out_of_service_at: Date | null;
  reason: string | null;
  by: 'operator' | 'probe' | null;
  /** Probes that began before do not count for or against it. */
  judged_from: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

export type ProbeKind = 'sms' | 'call';
/** `abandoned`: it tells nothing of either end. */
export const PROBE_RESULTS = ['delivered', 'failed', 'abandoned'] as const;
export type ProbeResult = (typeof PROBE_RESULTS)[number];
export type ProbeEnd = 'sender' | 'recipient' | 'either';

/** One text or call between two SIMs of ours. */
export interface ProbesTable {
  /** Also the id of its command and of its call. */
  id: string;
  /** Counts up in the order in which probes began. */
  position: Generated<number>;
  kind: ProbeKind;
  /** False: an operator asked for it. */
  is_scheduled: boolean;
  /** It proves the number of a SIM that is not admitted yet, and says nothing of slots. */
  is_admission: ColumnType<boolean, boolean | undefined, never>;
  /** In its text; nobody can guess it. */
  token: string;
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
  /** Then it has failed, and without anybody who notes that it is abandoned. */
  deadline_at: Date;
  ended_at: ColumnType<Date | null, undefined, Date | null>;
  /** Null while it is under way. */
  result: ColumnType<ProbeResult | null, undefined, ProbeResult | null>;
  /** Whose fault it may be. */
  failed_end: ColumnType<ProbeEnd | null, undefined, ProbeEnd | null>;
  why: ColumnType<string | null, undefined, string | null>;
  /** From the command to the fact, or to the ring. */
  latency_ms: ColumnType<number | null, undefined, number | null>;
}

/** One row: the instance that runs a round of probes. */
export interface ProbeTurnTable {
  id: Generated<boolean>;
  held_by: string | null;
  held_until: Date | null;
}

/** What an operator wants of a node whose link another instance has. */
export interface OperatorRequestsTable {
  id: string;
  node_id: string;
  call: string;
  input: ColumnType<unknown, string, never>;
  /** Nobody waits for it any longer. */
  until: Date;
  taken_at: ColumnType<Date | null, undefined, Date | null>;
  answer: ColumnType<unknown, undefined, string | null>;
  refusal: ColumnType<string | null, undefined, string | null>;
  answered_at: ColumnType<Date | null, undefined, Date | null>;
}

export interface OperationTables {
  audit_log: AuditLogTable;
  slot_service: SlotServiceTable;
  probes: ProbesTable;
  probe_turn: ProbeTurnTable;
  operator_requests: OperatorRequestsTable;
}
