// Migrations in their order, and the runner. Forward only.
import {
  type Kysely,
  type Migration,
  type MigrationProvider,
  type MigrationResultSet,
  Migrator,
} from 'kysely';
import * as schema from './migrations/0001-schema.ts';
import type { Tables } from './tables.ts';

const MIGRATIONS: Record<string, Migration> = { '0001-schema': schema };

const PROVIDER: MigrationProvider = { getMigrations: async () => MIGRATIONS };

/** Brings the database to the newest schema. Several instances may call it at once: Kysely locks. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: PROVIDER });
  thrown(await migrator.migrateToLatest());
}

export const isKnownMigration = (name: string): boolean => Object.hasOwn(MIGRATIONS, name);

/** Brings an empty database to the schema of that migration, within the transaction that the connection is in. */
export async function migrateTo(connection: Kysely<Tables>, name: string): Promise<void> {
  const migrator = new Migrator({ db: connection, provider: PROVIDER, disableTransactions: true });
  thrown(await migrator.migrateTo(name));
}

function thrown({ error }: MigrationResultSet): void {
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error));
}
