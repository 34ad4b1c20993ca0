// Which slots of a node serve no number, and why. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  await sql.raw("alter table nodes add column unregistered_slots jsonb not null default '[]'").execute(db);
}
