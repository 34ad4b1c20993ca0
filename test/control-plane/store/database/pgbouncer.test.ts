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
import { DATA_DIR } from '../../../fixtures/data-dir.ts';
import { rowsOf } from '../../../fixtures/lived-database.ts';
import { skipWithoutNats, startNats } from '../../../fixtures/nats.ts';
import { skipWithoutPgbouncer, startPgbouncer } from '../../../fixtures/pgbouncer.ts';
import { startPostgres } from '../../../fixtures/postgres.ts';
import { createRig } from '../../../fixtures/rig.ts';
import { temporaryFolder } from '../../../fixtures/started-stack.ts';
import { Traffic } from '../../../fixtures/traffic.ts';

const skip = skipWithoutPgbouncer();
const rig = await createRig(() => startPostgres());
const { postgres } = rig;
/** Fewer connections than the service has: they change from one transaction to the next. */
const SETTINGS = ['default_pool_size = 4'];

t.test('traffic, a backup, its restore and commands of operators', { skip, timeout: 120_000 }, async (t) => {
  const pooled = await startPgbouncer(t, postgres.url, SETTINGS);
  const direct = await postgres.createDatabase();
  const databaseUrl = pooled(direct);
  const { url } = await rig.start(t, { databaseUrl });
  const traffic = await Traffic.start(t, { chain: rig.chain, url: () => url, databaseUrl, payers: 2 });
  await traffic.passes();
  const operator = await openOperator({ databaseUrl, dataDir: DATA_DIR, url });
  t.match(await operator.call('nodes', {}), [{ name: 'rack' }]);
  await operator.close();
  await traffic.check(t);

  const file = join(temporaryFolder(t), 'lab.backup');
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  t.teardown(close);
  await saveBackup(file, (out) => writeBackup(db, out, new Date()));
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
  const { db, close } = await openDatabase({ url: direct, connectionsMax: 1 });
  t.teardown(close);
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
