// Examines Postgres without changing anything: version, rights, schema, and a pooler in between.
import { Kysely, type PostgresPoolClient, sql } from 'kysely';
import type { Client } from 'pg';
import { messageOf } from '#shared/error-message.ts';
import { newestMigration, newestOf, schemaRefusal } from './migrations.ts';
import { Dialect } from './postgres-dialect.ts';
import { Primary } from './primary.ts';
import { databaseIdOf } from './secrets.ts';
import type { Tables } from './tables.ts';

export interface SeenDatabase {
  /** Such as `17.5`. */
  readonly version: string;
  /** As `server_version_num`: 170005. */
  readonly versionNumber: number;
  readonly user: string;
  /** Another program answers in the name of the server, such as pgbouncer. */
  readonly isPooled: boolean;
  /** Why a transaction over several statements failed; undefined if none did. */
  readonly transactionProblem: string | undefined;
  /** Milliseconds after which the server ends any transaction; 0: never. */
  readonly transactionTimeoutMs: number;
  readonly connectionsMax: number;
  /** The rights that the service lacks, such as `delete on payments`. */
  readonly missingRights: readonly string[];
  /** The newest migration that was applied; undefined for a database without tables of the service. */
  readonly schema: string | undefined;
  /** The newest migration that this program knows. */
  readonly ownSchema: string;
  /** Why this program would refuse to start with this schema. */
  readonly schemaProblem: string | undefined;
  /** Names the database; undefined before the first start. */
  readonly databaseId: string | undefined;
  /** A sealed PIN of the fleet file for each key that sealed some. */
  readonly sealedPins: ReadonlyArray<{ iccid: string; pin: string }>;
  /** Ids of the keys that have signed receipts. */
  readonly receiptKeys: readonly string[];
}

/** Rejects with the driver's error, or with `NoPrimary`. `timeoutMs` is for the connection, and for each statement. */
export async function examineDatabase(url: string, timeoutMs: number): Promise<SeenDatabase> {
  const client = await new Primary(url).connect({
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'simrack-check',
  });
  try {
    return await examine(client);
  } finally {
    client.end().catch(() => undefined);
  }
}

async function examine(client: Client): Promise<SeenDatabase> {
  const db = new Kysely<Tables>({ dialect: new Dialect({ pool: poolOf(client) }) });
  const { rows } = await sql<ServerRow>`select current_setting('server_version') as version,
      current_setting('server_version_num')::int as "versionNumber", current_user as "user",
      current_setting('max_connections')::int as "connectionsMax", pg_backend_pid() as pid`.execute(db);
  const [server] = rows as [ServerRow];
  const { rows: limits } = await sql<{ setting: string }>`
    select setting from pg_settings where name = 'transaction_timeout'`.execute(db);
  const schema = await newestMigration(db);
  const seen = {
    version: server.version,
    versionNumber: server.versionNumber,
    user: server.user,
    connectionsMax: server.connectionsMax,
    // A pooler makes up the id of the server process.
    isPooled: (client as unknown as { processID: number }).processID !== server.pid,
    transactionTimeoutMs: Number(limits[0]?.setting ?? 0),
    missingRights: await missingRights(db, schema === undefined),
    schema,
    ownSchema: newestOf(),
    schemaProblem: await schemaRefusal(db),
    databaseId: schema === undefined ? undefined : await readDatabaseId(db),
    receiptKeys: schema === undefined ? [] : await readReceiptKeys(db),
    sealedPins: schema === undefined ? [] : await readSealedPins(db),
  };
  // Last: a pooler that refuses it ends the connection.
  const transactionProblem = await sql`begin read only`.execute(db).then(() => undefined, messageOf);
  if (transactionProblem === undefined) await sql`rollback`.execute(db);
  return { ...seen, transactionProblem };
}

interface ServerRow {
  version: string;
  versionNumber: number;
  user: string;
  connectionsMax: number;
  pid: number;
}

/** Migrations create and alter tables, which needs the right to create and the tables' ownership. */
async function missingRights(db: Kysely<Tables>, isEmpty: boolean): Promise<string[]> {
  const { rows } = await sql<{ right: string }>`
    select case when current_schema() is null then 'a schema to create tables in (search_path)'
      else 'create in the schema ' || current_schema() end as right
    where current_schema() is null or not has_schema_privilege(current_schema(), 'create')`.execute(db);
  const found = rows.map(({ right }) => right);
  if (isEmpty) return found;
  // The lock of Kysely's migrator is among them.
  const tables = await sql<{ right: string }>`
    select lower(kind) || ' on ' || relname as right
    from pg_class cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as kind
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not has_table_privilege(pg_class.oid, kind)
    union all
    select 'ownership of ' || relname from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not pg_has_role(relowner, 'usage')
    order by 1`.execute(db);
  return [...found, ...tables.rows.map(({ right }) => right)];
}

/** Undefined if the service has not made its secret yet, or if this user may not read it. */
async function readDatabaseId(db: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ isReadable: boolean }>`
    select has_table_privilege('secrets', 'select') as "isReadable"`.execute(db);
  if (rows[0]?.isReadable !== true) return undefined;
  const row = await db.selectFrom('secrets').select('value').where('name', '=', 'bus').executeTakeFirst();
  return row && databaseIdOf(row.value);
}

/** Whether the table exists, and this user may read it. */
async function isReadable(db: Kysely<Tables>, table: string): Promise<boolean> {
  const { rows } = await sql<{ isReadable: boolean | null }>`
    select has_table_privilege(to_regclass(${table}), 'select') as "isReadable"`.execute(db);
  return rows[0]?.isReadable === true;
}

/** `v1.<name of the key>.<sealed PIN>`. */
async function readSealedPins(db: Kysely<Tables>): Promise<Array<{ iccid: string; pin: string }>> {
  if (!(await isReadable(db, 'cards'))) return [];
  const { rows } = await sql<{ iccid: string; pin: string }>`
    select distinct on (split_part(pin, '.', 2)) iccid, pin from cards where pin is not null`.execute(db);
  return rows;
}

async function readReceiptKeys(db: Kysely<Tables>): Promise<string[]> {
  if (!(await isReadable(db, 'receipt_keys'))) return [];
  return (await db.selectFrom('receipt_keys').select('id').execute()).map(({ id }) => id);
}

const poolOf = (client: Client) => ({
  connect: async () =>
    ({
      query: client.query.bind(client),
      release: () => undefined,
    }) as unknown as PostgresPoolClient,
  end: async () => undefined,
});
