// All rows of all tables at one moment, as JSON. Postgres writes the text, so that no precision is lost.
import { sql } from 'kysely';
import { OperatorRefusal } from '../domain/refusal.ts';
import type { Database, DatabaseTransaction } from '../store/database/database.ts';
import { newestMigration } from '../store/database/migrations.ts';
import { listSequences, listTables } from '../store/database/table-catalog.ts';
import type { Contents } from './backup-format.ts';

const ROWS_A_FETCH = 500;

interface DumpSink {
  begin(contents: Contents): Promise<void>;
  /** Rows in the order of the tables, one line each. */
  rows(rows: readonly string[]): Promise<void>;
  /** The table has no more rows. */
  endTable(): Promise<void>;
}

/** Reads all of one snapshot. Rejects if `sink` does. */
export async function dumpDatabase(db: Database, sink: DumpSink): Promise<void> {
  await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`select set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true)`.execute(
        trx,
      );
      const migration = await newestMigration(trx);
      if (migration === undefined)
        throw new OperatorRefusal('There is nothing to back up: the database is empty.');
      const tables = await listTables(trx);
      await sink.begin({ migration, tables, sequences: await readSequences(trx) });
      for (const { name } of tables) await dumpTable(trx, name, sink);
    });
}

async function dumpTable(trx: DatabaseTransaction, table: string, sink: DumpSink): Promise<void> {
  await sql`declare backup no scroll cursor for
    select row_to_json(dumped_row)::text as line from ${sql.table(table)} as dumped_row`.execute(trx);
  for (;;) {
    const { rows } = await sql<{ line: string }>`fetch ${sql.lit(ROWS_A_FETCH)} from backup`.execute(trx);
    if (rows.length === 0) break;
    await sink.rows(rows.map(({ line }) => line));
  }
  await sql`close backup`.execute(trx);
  await sink.endTable();
}

/** Read after the snapshot of the rows: never behind them. */
async function readSequences(trx: DatabaseTransaction): Promise<Contents['sequences']> {
  const read = [];
  for (const { table, column, sequence } of await listSequences(trx)) {
    const { rows } = await sql<{ last: string; is_called: boolean }>`
      select last_value::text as last, is_called from ${sql.raw(sequence)}`.execute(trx);
    for (const row of rows) read.push({ table, column, ...row });
  }
  return read;
}
