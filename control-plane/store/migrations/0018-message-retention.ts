// Since when the clock says that messages are old, one row for all instances. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  'create table message_retention (read_at timestamptz, confirmed_at timestamptz)',
  'insert into message_retention default values',
];
