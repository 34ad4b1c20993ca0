// Calls. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table calls (
    id text primary key,
    position bigint generated always as identity,
    subscription_id text references subscriptions (id) on delete cascade,
    number text,
    iccid text not null,
    node_id text not null,
    direction text not null check (direction in ('inbound', 'outbound')),
    peer text,
    state text not null check (state in ('dialing', 'ringing', 'active', 'ended')),
    started_at timestamptz not null,
    answered_at timestamptz,
    ended_at timestamptz,
    reason text,
    cause smallint,
    audio jsonb,
    stream jsonb,
    ended_by_node boolean not null default false,
    seen_at timestamptz not null,
    check ((state = 'ended') = (ended_at is not null and reason is not null and cause is not null))
  )`,
  'create index calls_history on calls (subscription_id, started_at desc, position desc)',
  "create index calls_unended on calls (seen_at) where state <> 'ended'",
  'create index calls_unheld on calls (started_at) where subscription_id is null',
];
