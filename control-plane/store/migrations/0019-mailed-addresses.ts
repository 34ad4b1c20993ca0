// Addresses that left the waitlist within a week of a mail: whoever registers them again has them mailed no earlier. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table waitlist_mailed (
    email_hash text primary key,
    mailed_at timestamptz not null
  )`,
];
