// How full the message storages of SIMs are, and how many facts wait at nodes. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  'alter table sims add column storage_used integer, add column storage_total integer',
  'alter table nodes add column journal_depth integer',
];
