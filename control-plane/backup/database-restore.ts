// Fills an empty database from a backup, all at once or not at all, and brings it to the newest schema.
import { sql } from 'kysely';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { Database } from '../store/database/database.ts';
import { isKnownMigration, migrate, migrateTo } from '../store/database/migrations.ts';
import { listTables } from '../store/database/table-catalog.ts';
import { BackupError, type BackupHeader } from './backup-format.ts';
import type { RowBatch } from './backup-reader.ts';

/** Whoever was signed in at that moment is not, now: sessions end only in the database that they are in. */
const SESSIONS_TABLE = 'operator_sessions';

/** Throws `OperatorRefusal` where there is something already. What `batches` rejects with leaves it empty. */
export async function restoreDatabase(
  db: Database,
  header: BackupHeader,
  batches: AsyncIterable<RowBatch>,
): Promise<void> {
  if (!isKnownMigration(header.migration)) {
    throw new BackupError(
      `it has the schema ${header.migration}, which this version does not know: take the version that wrote it, or a newer one`,
    );
  }
  // By hand: Kysely's migrations want a connection, and are to be part of it.
  await db.connection().execute(async (connection) => {
    await sql`begin`.execute(connection);
    try {
      await checkEmpty(connection);
      await migrateTo(connection, header.migration);
      await checkTables(connection, header);
      for await (const batch of batches)
        if (batch.table !== SESSIONS_TABLE) await insertRows(connection, header, batch);
      for (const { table, column, last, is_called } of header.sequences) {
        await sql`select setval(pg_get_serial_sequence(quote_ident(${table}), ${column}), ${last}::bigint,
          ${is_called}::boolean)`.execute(connection);
      }
      await sql`commit`.execute(connection);
    } catch (error) {
      await sql`rollback`.execute(connection).catch(() => undefined);
      throw error;
    }
  });
  await migrate(db);
}

async function checkEmpty(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm') limit 1`.execute(
    db,
  );
  if (rows.length > 0) {
    throw new OperatorRefusal(
      'the database is not empty, and nothing was changed: restore into one that was just made, before a service or a command used it',
    );
  }
}

/** Migrations leave rows of their own, which are in the backup as they became. */
async function checkTables(db: Database, { tables: wanted }: BackupHeader): Promise<void> {
  const tables = await listTables(db);
  const shape = (list: readonly { name: string; columns: string[] }[]): string =>
    JSON.stringify(list.map(({ name, columns }) => [name, [...columns].sort()]).sort());
  if (shape(tables) !== shape(wanted)) {
    const known = new Set(tables.map(({ name }) => name));
    const strange = wanted.filter(({ name }) => !known.has(name)).map(({ name }) => name);
    throw new BackupError(
      strange.length > 0
        ? `it has tables that are not of Simrack: ${strange.join(', ')}`
        : 'its tables are not those of its schema: somebody has changed them by hand',
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
