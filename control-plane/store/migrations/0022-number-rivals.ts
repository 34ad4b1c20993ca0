// SIMs of other nodes that report a number which nobody has proven. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table number_rivals (
    iccid text primary key,
    number text not null references numbers (number) on delete cascade,
    since timestamptz not null
  )`,
  'create index number_rivals_of_number on number_rivals (number)',
  'alter table numbers add column disputed_since timestamptz',
];
