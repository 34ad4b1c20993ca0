// Fills an empty database from a backup, completely or not at all, and migrates it to the newest schema.
import { sql } from 'kysely';
import { OperatorRefusal } from '../domain/refusal.ts';
import type { Database } from '../store/database/database.ts';
import { isKnownMigration, migrate, migrateTo } from '../store/database/migrations.ts';
import { dropIdentity } from '../store/database/secrets.ts';
import { listTables } from '../store/database/table-catalog.ts';
import { BackupError, type BackupHeader } from './backup-format.ts';
import type { RowBatch } from './backup-reader.ts';
import { type RestoredAccess, readAccess, voidCodes } from './restored-access.ts';

/** Sessions are not restored: those that were open then may have been ended since. */
const SESSIONS_TABLE = 'operator_sessions';

/** Voids the enrollment codes, and returns who has access. Throws `OperatorRefusal` unless the database is empty. If `batches` rejects, it stays empty. */
export async function restoreDatabase(
  db: Database,
  header: BackupHeader,
  batches: AsyncIterable<RowBatch>,
): Promise<RestoredAccess> {
  if (!isKnownMigration(header.migration)) {
    throw new BackupError(
      `its schema ${header.migration} is newer than this version of Simrack: use the version that wrote it, or a newer one`,
    );
  }
  // Without Kysely's migrator, which wants a connection of its own and cannot join the transaction.
  const voided = await db.connection().execute(async (connection) => {
    await sql`begin`.execute(connection);
    try {
      await checkEmpty(connection);
      await migrateTo(connection, header.migration);
      await checkTables(connection, header);
      await sql`set local simrack.restoring = 'on'`.execute(connection);
      for await (const batch of batches)
        if (batch.table !== SESSIONS_TABLE) await insertRows(connection, header, batch);
      await dropIdentity(connection);
      for (const sequence of header.sequences) await advance(connection, sequence);
      const codes = await voidCodes(connection);
      await sql`commit`.execute(connection);
      return codes;
    } catch (error) {
      await sql`rollback`.execute(connection).catch(() => undefined);
      throw error;
    }
  });
  await migrate(db);
  // Without statistics, Postgres would guess how to find a page of the history until autovacuum comes.
  for (const { name } of await listTables(db)) await sql`analyze ${sql.table(name)}`.execute(db);
  return { ...(await readAccess(db)), voided };
}

/**
 * Continues a counter at the present time in milliseconds: beyond all that it gave since the backup, and since an earlier restore of the same
 * backup, unless it gives more than 1,000 a second for years. Customers and logs have these ids. JavaScript's safe integers are 5,000 times larger.
 */
async function advance(
  db: Database,
  { table, column, last }: BackupHeader['sequences'][number],
): Promise<void> {
  await sql`select setval(pg_get_serial_sequence(quote_ident(${table}), ${column}),
    greatest(${last}::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint))`.execute(db);
}

async function checkEmpty(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm') limit 1`.execute(
    db,
  );
  if (rows.length > 0) {
    throw new OperatorRefusal(
      'The database is not empty. Nothing was changed. Restore into a new database that no service or command has used.',
    );
  }
}

/** Migrations add rows of their own, which the backup contains in their later form. */
async function checkTables(db: Database, { tables: wanted }: BackupHeader): Promise<void> {
  const tables = await listTables(db);
  const shape = (list: readonly { name: string; columns: string[] }[]): string =>
    JSON.stringify(list.map(({ name, columns }) => [name, [...columns].sort()]).sort());
  if (shape(tables) !== shape(wanted)) {
    const known = new Set(tables.map(({ name }) => name));
    const strange = wanted.filter(({ name }) => !known.has(name)).map(({ name }) => name);
    throw new BackupError(
      strange.length > 0
        ? `it has tables that do not belong to Simrack: ${strange.join(', ')}`
        : 'its tables do not match its schema: they were changed by hand',
    );
  }
  await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(db);
}

async function insertRows(db: Database, header: BackupHeader, { table, rows }: RowBatch): Promise<void> {
  const columns = header.tables.find(({ name }) => name === table)?.columns ?? [];
  const list = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(table)} (${list}) overriding system value
    select ${list} from json_populate_recordset(null::${sql.table(table)}, ${`[${rows.join(',')}]`}::json)`.execute(
    db,
  );
}
