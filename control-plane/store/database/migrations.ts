// The migrations in order, and the runner. Forward only.
import { type Kysely, Migrator, sql } from 'kysely';
import * as schema from './migrations/0001-schema.ts';
import { type Migrations, needsMigration, noteSchema, SchemaRefusal } from './schema-versions.ts';
import type { Tables } from './tables.ts';

const MIGRATIONS: Migrations = { '0001-schema': schema };

/** Key of this service's migrations among the advisory locks of a database. */
const LOCK = 7_236_845_013;

/**
 * Migrates to the newest schema. Several instances may call it at once. Leaves a newer schema as it is; throws `SchemaRefusal` if it does not
 * serve this program, and if instances run that the new one would not serve.
 */
export async function migrate(db: Kysely<Tables>, migrations: Migrations = MIGRATIONS): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`begin`.execute(connection);
    try {
      await sql`set local statement_timeout = 0`.execute(connection);
      await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(connection);
      if (await needsMigration(connection, migrations)) await run(connection, migrations);
      await sql`commit`.execute(connection);
    } catch (error) {
      await sql`rollback`.execute(connection).catch(() => undefined);
      throw error;
    }
  });
}

export const isKnownMigration = (name: string): boolean => Object.hasOwn(MIGRATIONS, name);

/** The newest migration that this program knows. */
export const newestOf = (migrations: Migrations = MIGRATIONS): string =>
  Object.keys(migrations).sort().at(-1) ?? '';

/** Why this program would not start with the schema as it is; undefined if it would. Changes nothing. */
export async function schemaRefusal(
  db: Kysely<Tables>,
  migrations: Migrations = MIGRATIONS,
): Promise<string | undefined> {
  try {
    await needsMigration(db, migrations);
    return undefined;
  } catch (error) {
    if (error instanceof SchemaRefusal) return error.message;
    throw error;
  }
}

/** Migrates an empty database up to `name`, within the connection's open transaction. */
export const migrateTo = (connection: Kysely<Tables>, name: string): Promise<void> =>
  run(connection, MIGRATIONS, name);

/** The newest migration that was applied; undefined for a database without any. */
export async function newestMigration(db: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return undefined;
  const newest = await sql<{ name: string }>`
    select name from kysely_migration order by name desc limit 1`.execute(db);
  return newest.rows[0]?.name;
}

async function run(
  connection: Kysely<Tables>,
  migrations: Migrations,
  name = newestOf(migrations),
): Promise<void> {
  const provider = { getMigrations: async () => ({ ...migrations }) };
  // One transaction for all: the caller's.
  const { error } = await new Migrator({ db: connection, provider, disableTransactions: true }).migrateTo(
    name,
  );
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error));
  await noteSchema(connection, migrations);
}
