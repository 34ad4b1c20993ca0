// The tables of the database, read from its catalog, so that no list has to be kept in step with the migrations.
import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Tables of the migrations themselves, which a restore writes itself. */
const MIGRATION_TABLES = ['kysely_migration', 'kysely_migration_lock', 'schema_versions'];

interface CatalogTable {
  name: string;
  columns: string[];
}

/** A column with an automatic counter. */
interface CatalogSequence {
  table: string;
  column: string;
  sequence: string;
}

/** All tables except those of migrations. A table comes after the tables that it refers to. */
export async function listTables(db: Database): Promise<CatalogTable[]> {
  const { rows } = await sql<CatalogTable>`
    select pg_class.relname as name,
      array_agg(attname::text order by attnum) filter (where attgenerated = '') as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and pg_class.relname <> all (${MIGRATION_TABLES}::text[])
    group by pg_class.relname order by pg_class.relname`.execute(db);
  const references = await sql<{ from: string; to: string }>`
    select owner.relname as "from", target.relname as "to" from pg_constraint
    join pg_class as owner on owner.oid = conrelid join pg_class as target on target.oid = confrelid
    where contype = 'f' and owner.oid <> target.oid`.execute(db);
  return inOrder(rows, references.rows);
}

function inOrder(
  tables: readonly CatalogTable[],
  references: ReadonlyArray<{ from: string; to: string }>,
): CatalogTable[] {
  const ordered: CatalogTable[] = [];
  const isPlaced = (name: string): boolean => ordered.some((table) => table.name === name);
  while (ordered.length < tables.length) {
    const next = tables.find(
      ({ name }) => !isPlaced(name) && references.every(({ from, to }) => from !== name || isPlaced(to)),
    );
    if (next === undefined) throw new Error('tables refer to each other in a circle');
    ordered.push(next);
  }
  return ordered;
}

export async function listSequences(db: Database): Promise<CatalogSequence[]> {
  const { rows } = await sql<CatalogSequence>`
    select table_name as "table", column_name as "column",
      pg_get_serial_sequence(quote_ident(table_name), column_name) as sequence
    from information_schema.columns
    where table_schema = current_schema() and (is_identity = 'YES' or column_default like 'nextval(%')
    order by 1, 2`.execute(db);
  return rows;
}
