// What operators do, and delivery probes. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table audit_log (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    actor text not null,
    action text not null,
    subject text not null,
    detail jsonb not null,
    result text not null check (result in ('begun', 'ok', 'refused', 'failed')),
    why text
  )`,
  `create table slot_service (
    node_id text not null references nodes (id) on delete cascade,
    slot text not null,
    out_of_service_at timestamptz,
    reason text,
    by text check (by in ('operator', 'probe')),
    judged_from timestamptz,
    primary key (node_id, slot),
    check ((out_of_service_at is null) = (reason is null) and (reason is null) = (by is null))
  )`,
  'alter table nodes add column approval_pending_since timestamptz',
  'alter table numbers add column quarantined_until timestamptz',
  `create table probes (
    id text primary key,
    position bigint generated always as identity,
    kind text not null check (kind in ('sms', 'call')),
    is_scheduled boolean not null,
    token text not null unique,
    from_number text not null,
    from_iccid text not null,
    from_node text not null,
    from_slot text not null,
    from_carrier text,
    to_number text not null,
    to_iccid text not null,
    to_node text not null,
    to_slot text not null,
    to_carrier text,
    started_at timestamptz not null,
    deadline_at timestamptz not null,
    ended_at timestamptz,
    result text check (result in ('delivered', 'failed', 'abandoned')),
    failed_end text check (failed_end in ('sender', 'recipient', 'either')),
    why text,
    latency_ms integer,
    check ((result is null) = (ended_at is null) and (result = 'failed') = (failed_end is not null)
      and (result = 'delivered') = (latency_ms is not null))
  )`,
  'create index probes_open on probes (deadline_at) where result is null',
  'create index probes_history on probes (position desc)',
  'create index probes_time on probes (started_at)',
  'create index probes_recipient on probes (to_iccid, started_at)',
  // One row: who runs a round of probes.
  `create table probe_turn (
    id boolean primary key default true check (id),
    held_by text,
    held_until timestamptz
  )`,
  'insert into probe_turn default values',
  `create table operator_requests (
    id text primary key,
    node_id text not null,
    call text not null,
    input jsonb not null,
    until timestamptz not null,
    taken_at timestamptz,
    answer jsonb,
    refusal text,
    answered_at timestamptz
  )`,
  'create index operator_requests_waiting on operator_requests (node_id) where taken_at is null',
];
