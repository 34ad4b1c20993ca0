// Opens and migrates the database: Postgres if there is a URL, else PGlite in a folder.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, type LogEvent, type PostgresPool, sql, type Transaction } from 'kysely';
import { lockFolder } from '#shared/process/single-instance.ts';
import { DatabaseUnavailable } from '../../domain/refusal.ts';
import type { DatabaseConnections } from '../../metrics/database-metrics.ts';
import { emitMetric } from '../../metrics/metric-events.ts';
import { migrate, newestMigration, newestOf } from './migrations.ts';
import { Dialect } from './postgres-dialect.ts';
import { openPostgresPool } from './postgres-pool.ts';
import type { Migrations } from './schema-versions.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;

export interface OpenDatabase {
  db: Database;
  /** Undefined for the embedded database, which has a single connection. */
  connections(): DatabaseConnections | undefined;
  close(): Promise<void>;
}

/** `isPatient`: statements may take as long as they need. */
export type DatabasePlace =
  | { url: string; connectionsMax: number; isPatient?: boolean }
  /** `mayHaveTables`: a new one may begin with the newest schema. */
  | { folder: string; mayHaveTables?: boolean };

/** Folder of the embedded database. */
export const embeddedFolder = (dataDir: string): string => join(dataDir, 'pglite');

/** The database that the options of a program name. */
export const databasePlaceOf = (
  { databaseUrl: url, dataDir }: { databaseUrl: string | undefined; dataDir: string },
  connectionsMax: number,
): DatabasePlace => (url === undefined ? { folder: embeddedFolder(dataDir) } : { url, connectionsMax });

/** Opens `url`, or the embedded database in `folder`, and migrates it. Throws when it cannot be opened. `url` may name several servers. */
export async function openDatabase(where: DatabasePlace, migrations?: Migrations): Promise<OpenDatabase> {
  const opened = await openAsItIs({ mayHaveTables: migrations === undefined, ...where });
  try {
    await migrateAt(where, opened.db, migrations);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return opened;
}

/** A change of a big table takes minutes, which no statement of the service may take. */
async function migrateAt(where: DatabasePlace, db: Database, migrations?: Migrations): Promise<void> {
  if ('folder' in where || (await newestMigration(db)) === newestOf(migrations))
    return migrate(db, migrations);
  const patient = await openAsItIs({ ...where, connectionsMax: 1, isPatient: true });
  try {
    await migrate(patient.db, migrations);
  } finally {
    await patient.close();
  }
}

/** Like `openDatabase`, but does not create a database. Undefined if no service has used it. */
export async function openExisting(where: DatabasePlace): Promise<OpenDatabase | undefined> {
  if ('folder' in where && !isMade(where.folder)) return undefined;
  const opened = await openAsItIs(where);
  try {
    if ((await newestMigration(opened.db)) !== undefined) {
      await migrateAt(where, opened.db);
      return opened;
    }
  } catch (error) {
    await opened.close();
    throw error;
  }
  await opened.close();
  return undefined;
}

/** Whether the folder has an embedded database. */
export const isMade = (folder: string): boolean => existsSync(join(folder, 'PG_VERSION'));

/** Opens an existing database without migrating it. */
export async function openAsItIs(where: DatabasePlace): Promise<OpenDatabase> {
  let pool: PostgresPool;
  let connections: OpenDatabase['connections'] = () => undefined;
  let unlock = async (): Promise<void> => undefined;
  if ('url' in where) {
    ({ pool, connections } = openPostgresPool(where, () =>
      emitMetric({ kind: 'query_failed', errorClass: 'connection' }),
    ));
  } else {
    unlock = await lockFolder(
      where.folder,
      'control-plane',
      0o700,
      `another control-plane (pid ${process.pid})`,
    );
    // The Debian package does not have it.
    const { openPglitePool } = await import('./pglite-pool.ts');
    pool = await openPglitePool(where.folder, where);
  }
  const db: Database = new Kysely({ dialect: new Dialect({ pool }), log: observeQuery });
  const close = async (): Promise<void> => {
    await db.destroy();
    await unlock();
  };
  return { db, connections, close };
}

/** Runs `work` in a transaction: in `db` if that is one, else in a new one. */
export const inTransaction = <T>(db: Database, work: (trx: DatabaseTransaction) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db as DatabaseTransaction) : db.transaction().execute(work);

/** Does the work, and undoes all of it. Returns what it returned, throws what it threw. */
export async function rolledBack<T>(
  db: Database,
  work: (trx: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  const rollback = new Error('rolled back');
  const done: T[] = [];
  await db
    .transaction()
    .execute(async (trx) => {
      done.push(await work(trx));
      throw rollback;
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  return done[0] as T;
}

/** Rejects when the database does not answer. */
export async function checkDatabase(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}

function observeQuery(event: LogEvent): void {
  emitMetric({ kind: 'queried', seconds: event.queryDurationMillis / 1000 });
  if (event.level === 'error') emitMetric({ kind: 'query_failed', errorClass: errorClassOf(event.error) });
}

/** Errors of Postgres have a SQLSTATE (five characters); errors of the connection have none. */
function errorClassOf(error: unknown): string {
  const said = error instanceof DatabaseUnavailable ? error.cause : error;
  const code = (said as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code.slice(0, 2) : 'connection';
}
