// Tables of the console, as Kysely sees them: who may sign in, who has, and what its plots show.
import type { ColumnType } from 'kysely';

export interface OperatorsTable {
  name: string;
  /** SHA-256 of the key. */
  key_hash: Buffer;
  created_at: Date;
}

/** Who is signed in to the console. */
export interface OperatorSessionsTable {
  /** SHA-256 of what the browser shows. */
  hash: Buffer;
  operator: string;
  created_at: Date;
  used_at: Date;
}

/** How the fleet was in a minute. What is null nobody looked at. */
export interface FleetSamplesTable {
  /** Where the minute begins. */
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
  /** Frames of 20 ms of calls that ended in it, and how many of them nobody heard. */
  audio_frames: number;
  audio_gaps: number;
}

export interface NodeSamplesTable {
  node_id: string;
  at: Date;
  /** Signal in dBm, by slot. */
  signals: ColumnType<Record<string, number>, string, string>;
}

export interface ConsoleTables {
  operators: OperatorsTable;
  operator_sessions: OperatorSessionsTable;
  fleet_samples: FleetSamplesTable;
  node_samples: NodeSamplesTable;
}
