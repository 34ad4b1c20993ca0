// The migrations in order, and the runner. Forward only.
import {
  type Kysely,
  type Migration,
  type MigrationProvider,
  type MigrationResultSet,
  Migrator,
  sql,
} from 'kysely';
import * as schema from './migrations/0001-schema.ts';
import type { Tables } from './tables.ts';

const MIGRATIONS: Record<string, Migration> = { '0001-schema': schema };

const PROVIDER: MigrationProvider = { getMigrations: async () => MIGRATIONS };

/** Migrates to the newest schema. Several instances may call it at once: Kysely takes a lock. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: PROVIDER });
  thrown(await migrator.migrateToLatest());
}

export const isKnownMigration = (name: string): boolean => Object.hasOwn(MIGRATIONS, name);

/** Migrates an empty database up to `name`, within the connection's open transaction. */
export async function migrateTo(connection: Kysely<Tables>, name: string): Promise<void> {
  const migrator = new Migrator({ db: connection, provider: PROVIDER, disableTransactions: true });
  thrown(await migrator.migrateTo(name));
}

/** The newest migration that was applied; undefined for a database without any. */
export async function newestMigration(db: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return undefined;
  const newest = await sql<{ name: string }>`
    select name from kysely_migration order by name desc limit 1`.execute(db);
  return newest.rows[0]?.name;
}

function thrown({ error }: MigrationResultSet): void {
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error));
}
