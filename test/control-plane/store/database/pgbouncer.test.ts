// The service behind pgbouncer in transaction mode, where a session ends with each transaction.
import { join } from 'node:path';
import { sql } from 'kysely';
import t from 'tap';
import { saveBackup } from '#control-plane/backup/backup-file.ts';
import { writeBackup } from '#control-plane/backup/backup-writer.ts';
import { restoreFrom } from '#control-plane/operator/backups.ts';
import { openOperator } from '#control-plane/operator/open-operator.ts';
import { openDatabase } from '#control-plane/store/database/database.ts';
import * as schema from '#control-plane/store/database/migrations/0001-schema.ts';
import type { Migrations } from '#control-plane/store/database/schema-versions.ts';
import { systemClock } from '#shared/clock.ts';
import { rowsOf } from '../../../fixtures/database/lived-database.ts';
import { skipWithoutPgbouncer, startPgbouncer } from '../../../fixtures/database/pgbouncer.ts';
import { startPostgres } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { DATA_DIR } from '../../../fixtures/service/data-dir.ts';
import { skipWithoutNats, startNats } from '../../../fixtures/service/nats.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { Traffic } from '../../../fixtures/stacks/traffic.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

const skip = skipWithoutPgbouncer();
const rig = await createRig({ openServer: () => startPostgres() });
const { postgres } = rig;
/** Fewer connections than the service has: they change from one transaction to the next. */
const SETTINGS = ['default_pool_size = 4'];

t.test('traffic, a backup, its restore and commands of operators', { skip, timeout: 120_000 }, async (t) => {
  const pooled = await startPgbouncer(t, postgres.url, SETTINGS);
  const direct = await postgres.createDatabase();
  const databaseUrl = pooled(direct);
  const { url, service } = await rig.start(t, { databaseUrl });
  const traffic = await Traffic.start(t, { chain: rig.chain, url: () => url, databaseUrl, payers: 2 });
  await traffic.passes();
  const operator = await openOperator({ databaseUrl, dataDir: DATA_DIR, url });
  t.match(await operator.call('nodes', {}), [{ name: 'rack' }]);
  await operator.close();
  await traffic.check(t);
  await traffic.node.stop();
  await service.stop();

  const file = join(temporaryFolder(t), 'lab.backup');
  const db = await openTestDatabase(t, databaseUrl);
  await saveBackup(file, (out) => writeBackup(db, out, systemClock));
  const restored = pooled(await postgres.createDatabase());
  const place = { databaseUrl: restored, dataDir: DATA_DIR };
  await restoreFrom(file, { ...place, identityFile: undefined, passphraseFile: undefined } as never);
  const [was, is] = [
    await rowsOf({ url: direct, connectionsMax: 1 }),
    await rowsOf({ url: restored, connectionsMax: 1 }),
  ];
  for (const table of ['messages', 'payments', 'subscriptions', 'journals', 'schema_versions'])
    t.same(is.get(table), was.get(table), table);
});

t.test('migrations at the same time, and one that fails, leave no lock behind', { skip }, async (t) => {
  const pooled = await startPgbouncer(t, postgres.url, SETTINGS);
  const direct = await postgres.createDatabase();
  const url = pooled(direct);
  const opened = await Promise.all(Array.from({ length: 4 }, () => openDatabase({ url, connectionsMax: 2 })));
  for (const { close } of opened) await close();
  const failing: Migrations = {
    '0001-schema': schema,
    '0002-wrong': { up: async (db) => void (await sql`select 1 / 0`.execute(db)) },
  };
  await t.rejects(openDatabase({ url, connectionsMax: 1 }, failing), { code: '22012' });
  const db = await openTestDatabase(t, direct);
  const { rows } = await sql`
    select from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  t.same(rows, []);
});

t.test('one instance alone, or several with NATS', { skip: skip || skipWithoutNats() }, async (t) => {
  const pooled = await startPgbouncer(t, postgres.url, SETTINGS);
  const alone = pooled(await postgres.createMigrated());
  await rig.start(t, { databaseUrl: alone });
  await t.rejects(rig.start(t, { databaseUrl: alone }), { name: 'OtherInstance' });
  const natsUrl = [(await startNats(t)).url];
  const shared = pooled(await postgres.createMigrated());
  await rig.start(t, { databaseUrl: shared, natsUrl });
  await rig.start(t, { databaseUrl: shared, natsUrl });
  await t.rejects(rig.start(t, { databaseUrl: shared }), { name: 'OtherInstance' });
});

t.test(
  'time limits of the role, as the docs set them, end neither the lock nor a migration',
  { skip },
  async (t) => {
    const pooled = await startPgbouncer(t, postgres.url, SETTINGS);
    const direct = await postgres.createMigrated();
    const own = await openTestDatabase(t, direct);
    const name = new URL(direct).pathname.slice(1);
    for (const limit of ['statement_timeout', 'idle_in_transaction_session_timeout'])
      await sql.raw(`alter database "${name}" set ${limit} = '1s'`).execute(own);
    await rig.start(t, { databaseUrl: pooled(direct) });
    const lockHeldFor = async () => {
      const { rows } = await sql<{ pid: number; seconds: number }>`
      select pid, extract(epoch from clock_timestamp() - xact_start)::float as seconds from pg_locks
      join pg_stat_activity using (pid) where locktype = 'advisory' and datname = ${name}`.execute(own);
      return rows[0];
    };
    const first = await until('the lock', lockHeldFor);
    const later = await until('it is older than the limits', async () => {
      const held = await lockHeldFor();
      return held !== undefined && held.seconds > 3 ? held : undefined;
    });
    t.equal(later.pid, first.pid, 'of the same connection');
    const slow: Migrations = {
      '0001-schema': schema,
      '0002-slow': { up: async (db) => void (await sql`select pg_sleep(1.5)`.execute(db)) },
    };
    const other = pooled(await postgres.createMigrated());
    const otherName = new URL(other).pathname.slice(1);
    await sql.raw(`alter database "${otherName}" set statement_timeout = '1s'`).execute(own);
    const { close } = await openDatabase({ url: other, connectionsMax: 1 }, slow);
    await close();
  },
);
