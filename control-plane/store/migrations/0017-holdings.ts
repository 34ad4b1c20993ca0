// Until when former holders had a number and its SIM, and when each SIM was swept last. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  'alter table sims add column swept_at timestamptz',
  `create table former_holdings (
    number text not null,
    iccid text not null,
    held_from timestamptz not null,
    held_until timestamptz not null,
    primary key (number, iccid)
  )`,
  'create index former_holdings_by_sim on former_holdings (iccid)',
  // Who had these before was not written down.
  `insert into former_holdings (number, iccid, held_from, held_until)
    select number, iccid, created_at, now() from numbers
    where not exists (select from subscriptions where subscriptions.number = numbers.number)`,
];
