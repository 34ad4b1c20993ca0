// Which sent messages have the end that the carrier reported. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  await sql.raw('alter table messages add column ended_by_report boolean not null default false').execute(db);
}
