// The waitlist, and how often the pool has opened. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // One row.
  `create table pool (
    id boolean primary key default true check (id),
    is_open boolean not null,
    opening bigint not null
  )`,
  'insert into pool (is_open, opening) values (false, 0)',
  `create table waitlist (
    id text primary key,
    email text not null,
    email_key text not null unique,
    unsubscribe_token text not null unique,
    registered_at timestamptz not null,
    state text not null check (state in ('waiting', 'notified', 'refused')),
    after_opening bigint not null,
    mail_opening bigint,
    attempts integer not null default 0,
    claimed_until timestamptz,
    retry_at timestamptz,
    notified_at timestamptz
  )`,
  "create index waitlist_waiting on waitlist (registered_at, id) where state = 'waiting'",
];
