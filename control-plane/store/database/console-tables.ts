// Kysely types of the console's tables: operators, their sessions, and the samples that its plots show.
import type { ColumnType } from 'kysely';

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
  calls_ended: number;
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

export interface ConsoleTables {
  operators: OperatorsTable;
  operator_sessions: OperatorSessionsTable;
  fleet_samples: FleetSamplesTable;
  node_samples: NodeSamplesTable;
}
