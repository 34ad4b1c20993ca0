// Keys that all instances of the service share and nobody configures. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  await sql.raw('create table secrets (name text primary key, value text not null)').execute(db);
}
