// Troubles that an operator is told of, and the messages that tell them. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table alerts (
    id text primary key,
    kind text not null,
    subject text not null,
    severity text not null check (severity in ('warning', 'critical')),
    summary text not null,
    advice text not null,
    reading bigint,
    since timestamptz not null,
    seen_at timestamptz not null,
    raised_at timestamptz,
    well_since timestamptz,
    recovered_at timestamptz,
    check (recovered_at is null or raised_at is not null)
  )`,
  'create unique index alerts_open on alerts (kind, subject) where recovered_at is null',
  'create index alerts_by_age on alerts (recovered_at)',
  `create table alert_messages (
    id text primary key,
    channel text not null,
    state text not null check (state in ('open', 'sent', 'given_up')),
    created_at timestamptz not null,
    attempts integer not null default 0,
    claimed_until timestamptz,
    retry_at timestamptz
  )`,
  // One after the other: what is over is never told before what has begun.
  "create unique index alert_messages_open on alert_messages (channel) where state = 'open'",
  `create table alert_tidings (
    alert_id text not null references alerts (id) on delete cascade,
    change text not null check (change in ('raised', 'recovered')),
    channel text not null,
    message_id text not null references alert_messages (id) on delete cascade,
    primary key (alert_id, change, channel)
  )`,
  'create index alert_tidings_by_message on alert_tidings (message_id)',
];
