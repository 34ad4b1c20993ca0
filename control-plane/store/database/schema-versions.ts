// Which programs a schema serves: the database says so itself, so that an older program can start beside a newer one.
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

interface SchemaChange extends Migration {
  /**
   * The oldest migration whose programs still work after this one: the previous one for a change that only adds (expand). Left out: older
   * programs do not work after it (contract).
   */
  serves?: string;
}

/** By name. Names sort in their order. */
export type Migrations = Readonly<Record<string, SchemaChange>>;

/** First key of the advisory locks with which running instances announce their schema. The second key is the number of their migration. */
const RUNNING_LOCK = 1_684_501_207;

export class SchemaRefusal extends Error {
  override name = 'SchemaRefusal';
}

/**
 * Whether some of `migrations` are to be applied: none to a newer schema that serves this program. Throws `SchemaRefusal` if it does not serve
 * it, and if a running instance is older than what `migrations` would leave.
 */
export async function needsMigration(db: Kysely<Tables>, migrations: Migrations): Promise<boolean> {
  const known = Object.keys(migrations).sort();
  const own = known.at(-1) ?? '';
  const applied = await appliedTo(db);
  const unknown = applied.filter(({ name }) => !known.includes(name));
  const refusing = unknown.find(({ serves }) => serves > own);
  if (refusing !== undefined) {
    throw new SchemaRefusal(
      `the database has the schema ${refusing.name}, which needs a program that knows ${refusing.serves}; this one knows ${own}: start a newer version, or restore a backup into a new database`,
    );
  }
  const isApplied = (name: string): boolean => applied.some((migration) => migration.name === name);
  const oldest = known
    .filter((name) => applied.length > 0 && !isApplied(name))
    .map((name) => migrations[name]?.serves ?? name)
    .sort()
    .at(-1);
  if (oldest !== undefined && (await runsOlder(db, oldest))) {
    throw new SchemaRefusal(
      `an instance of an older version runs on this database, and does not work after ${own}: stop it first`,
    );
  }
  return unknown.length === 0 && applied.length < known.length;
}

/** Records which programs the schema serves. */
export async function noteSchema(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const { rows } = await sql<{
    exists: boolean;
  }>`select to_regclass('schema_versions') is not null as exists`.execute(db);
  if (rows[0]?.exists !== true)
    await sql`create table schema_versions (name text primary key, serves text not null)`.execute(db);
  for (const { name } of await appliedTo(db)) {
    const serves = migrations[name]?.serves ?? name;
    await sql`insert into schema_versions (name, serves) values (${name}, ${serves})
      on conflict (name) do nothing`.execute(db);
  }
}

/** The statement with which an instance says, for as long as its transaction is open, that it runs and knows `migration`. */
export const sayRunning = (migration: string): { text: string; values: number[] } => ({
  text: 'select pg_advisory_xact_lock_shared($1::integer, $2::integer)',
  values: [RUNNING_LOCK, numberOf(migration)],
});

async function runsOlder(db: Kysely<Tables>, than: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks where locktype = 'advisory' and classid = ${RUNNING_LOCK}::oid and objsubid = 2
      and objid::bigint < ${numberOf(than)}
      and database = (select oid from pg_database where datname = current_database()) limit 1`.execute(db);
  return rows.length > 0;
}

/** A migration without a record serves nothing older than itself. */
async function appliedTo(db: Kysely<Tables>): Promise<{ name: string; serves: string }[]> {
  const { rows } = await sql<{ migrations: boolean; versions: boolean }>`
    select to_regclass('kysely_migration') is not null as migrations,
      to_regclass('schema_versions') is not null as versions`.execute(db);
  if (rows[0]?.migrations !== true) return [];
  const answer = rows[0].versions
    ? await sql<{ name: string; serves: string }>`
        select kysely_migration.name, coalesce(serves, kysely_migration.name) as serves
        from kysely_migration left join schema_versions using (name)`.execute(db)
    : await sql<{ name: string; serves: string }>`select name, name as serves from kysely_migration`.execute(
        db,
      );
  return answer.rows;
}

/** `0012-some-change`: 12. */
const numberOf = (migration: string): number => Number.parseInt(migration, 10) || 0;
