// Operators of the console, their sessions, and what its plots show. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table operators (
    name text primary key,
    key_hash bytea not null unique,
    created_at timestamptz not null
  )`,
  `create table operator_sessions (
    hash bytea primary key,
    operator text not null references operators (name) on delete cascade,
    created_at timestamptz not null,
    used_at timestamptz not null
  )`,
  'create index operator_sessions_by_operator on operator_sessions (operator)',
  // A row a minute.
  `create table fleet_samples (
    at timestamptz primary key,
    slots_up integer,
    slots integer,
    available integer,
    held integer,
    calls_up integer,
    sms_sent integer not null default 0,
    sms_delivered integer not null default 0,
    sms_failed integer not null default 0,
    sms_received integer not null default 0,
    calls_ended integer not null default 0,
    calls_answered integer not null default 0,
    calls_failed integer not null default 0,
    audio_frames bigint not null default 0,
    audio_gaps bigint not null default 0
  )`,
  // Signal in dBm, by slot.
  `create table node_samples (
    node_id text not null,
    at timestamptz not null,
    signals jsonb not null,
    primary key (node_id, at)
  )`,
  'create index node_samples_by_age on node_samples (at)',
  // What happened in the last minutes is counted each minute.
  'create index messages_by_age on messages (created_at)',
  'create index calls_by_end on calls (ended_at) where ended_at is not null',
  'create index calls_by_number on calls (number, started_at desc) where number is not null',
];
