// Which segments of a sent message the carrier reported as delivered. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  await sql
    .raw("alter table messages add column delivered_parts integer[] not null default '{}'")
    .execute(db);
}
