// Connections that break: an idle one is replaced, one in a transaction fails that transaction, and the process goes on.
import { sql } from 'kysely';
import t from 'tap';
import { openAsItIs } from '#control-plane/store/database/database.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { until } from '../../../fixtures/until.ts';

const postgres = await openDatabases(t);

t.test('a server that ends connections, between two statements too', async (t) => {
  const url = await postgres.createDatabase();
  const db = await openTestDatabase(t, url);
  const other = await openTestDatabase(t, url, 1);
  const trx = await db.startTransaction().execute();
  await sql`select 1`.execute(trx);
  const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(other);
  t.ok(rows.length > 0);
  await t.rejects(sql`select 1`.execute(trx));
  await trx
    .rollback()
    .execute()
    .catch(() => undefined);
  await until('another connection', async () => {
    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(db).catch(() => ({ rows: [] }));
    return rows[0]?.one === 1;
  });
});

t.test('a server without a free connection serves those that it has, and is not searched for', async (t) => {
  const url = await postgres.createDatabase();
  const admin = await openTestDatabase(t, url, 1);
  await sql`create role crowded login password 'crowded' connection limit 2`.execute(admin);
  t.teardown(() => sql`drop role crowded`.execute(admin));
  const { host, pathname } = new URL(url);
  const place = { url: `postgres://crowded:crowded@${host},127.0.0.1:1${pathname}`, connectionsMax: 3 };
  const { db, close } = await openAsItIs(place);
  t.teardown(close);
  const busy = await db.startTransaction().execute();
  const open = async (): Promise<number> => {
    const { rows } = await sql`select from pg_stat_activity where usename = 'crowded'`.execute(admin);
    return rows.length;
  };
  await until('the search has ended', async () => (await open()) === 1);
  const other = await db.startTransaction().execute();
  await t.rejects(sql`select 1`.execute(db), { name: 'DatabaseUnavailable', cause: { code: '53300' } });
  await other.commit().execute();
  t.ok(await sql`select 1`.execute(db));
  await busy.commit().execute();
});
