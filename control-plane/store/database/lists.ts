// Statements over many rows: lists of any length, and deletions in steps.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';

/** Limit of one deletion, so that none locks rows for long. */
export const BATCH_ROWS = 10_000;
const BATCHES_MAX = 10;

/** One bound value for a list of any length: Postgres takes 65,535 bound values in a statement. Use it with `=`. */
export const anyOf = (values: readonly string[]): RawBuilder<string> => sql<string>`any(${values}::text[])`;

/** Calls `deleteBatch` until a batch is not full; the next round of housekeeping continues. Returns how many rows were deleted. */
export async function inBatches(deleteBatch: (limit: number) => Promise<number>): Promise<number> {
  let deleted = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const count = await deleteBatch(BATCH_ROWS);
    deleted += count;
    if (count < BATCH_ROWS) break;
  }
  return deleted;
}

/** Deletes the rows of `table` whose `key` the statement `chosen` returns. */
export async function deleteChosen(
  db: Database,
  { table, key }: { table: string; key: string },
  chosen: RawBuilder<unknown>,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ${sql.ref(key)} in (${chosen})`.execute(db);
  return Number(numAffectedRows);
}
