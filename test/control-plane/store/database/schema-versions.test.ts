// Old and new programs on one database: what each migration allows.
import { sql } from 'kysely';
import t from 'tap';
import { type DatabasePlace, openAsItIs, openDatabase } from '#control-plane/store/database/database.ts';
import { InstanceLock } from '#control-plane/store/database/instance-lock.ts';
import * as schema from '#control-plane/store/database/migrations/0001-schema.ts';
import type { Migrations } from '#control-plane/store/database/schema-versions.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();

const OLD: Migrations = { '0001-schema': schema };
const EXPANDED: Migrations = {
  ...OLD,
  '0002-expand': {
    serves: '0001-schema',
    up: async (db) => void (await sql`alter table waitlist add column note text`.execute(db)),
  },
};
const CONTRACTED: Migrations = {
  ...EXPANDED,
  '0003-contract': {
    serves: '0002-expand',
    up: async (db) => void (await sql`alter table waitlist drop column note`.execute(db)),
  },
};
const LAST: Migrations = { ...CONTRACTED, '0004-break': { up: async () => undefined } };

const opens = async (where: DatabasePlace, migrations: Migrations): Promise<void> => {
  const { close } = await openDatabase(where, migrations);
  await close();
};

t.test('an older program starts after an expansion, and not after a contraction', async (t) => {
  const where = { url: await rig.postgres.createDatabase(), connectionsMax: 1 };
  await opens(where, OLD);
  await opens(where, EXPANDED);
  await opens(where, OLD);
  await opens(where, CONTRACTED);
  await opens(where, EXPANDED);
  await t.rejects(opens(where, OLD), {
    name: 'SchemaRefusal',
    message: /0003-contract.*needs a program that knows 0002-expand; this one knows 0001-schema/,
  });
  await opens(where, LAST);
  await t.rejects(opens(where, CONTRACTED), { name: 'SchemaRefusal' });
  await opens(where, LAST);
});

t.test('the same in PGlite', async (t) => {
  const where = { folder: temporaryFolder(t) };
  await opens(where, EXPANDED);
  await opens(where, OLD);
  await opens(where, LAST);
  await t.rejects(opens(where, OLD), { name: 'SchemaRefusal' });
});

t.test('a change that fails leaves the schema as it was, and the next start tries again', async (t) => {
  const where = { url: await rig.postgres.createDatabase(), connectionsMax: 1 };
  await opens(where, OLD);
  const failing: Migrations = {
    ...EXPANDED,
    '0003-wrong': { up: async (db) => void (await sql`select 1 / 0`.execute(db)) },
  };
  await t.rejects(opens(where, failing), { code: '22012' });
  await opens(where, EXPANDED);
  await opens(where, OLD);
});

t.test('a change may take longer than a statement of the service', { timeout: 60_000 }, async (t) => {
  const where = { url: await rig.postgres.createDatabase(), connectionsMax: 1 };
  const slow: Migrations = {
    ...OLD,
    '0002-slow': { up: async (db) => void (await sql`select pg_sleep(21)`.execute(db)) },
  };
  await opens(where, OLD);
  await opens(where, slow);
  t.pass('it took its time');
});

t.test('a schema that a running instance cannot work with is not made', async (t) => {
  const { databaseUrl, service } = await rig.start(t);
  const where = { url: databaseUrl, connectionsMax: 1 };
  await opens(where, EXPANDED);
  await t.rejects(opens(where, CONTRACTED), {
    name: 'SchemaRefusal',
    message: /an instance of an older version runs/,
  });
  await service.stop();
  await opens(where, CONTRACTED);
});

t.test('an instance that starts while a newer version changes the schema does not run on it', async (t) => {
  const databaseUrl = await rig.postgres.createMigrated();
  const where = { url: databaseUrl, connectionsMax: 1 };
  const { db, close } = await openAsItIs(where);
  t.teardown(close);
  const lock = await InstanceLock.take({
    url: databaseUrl,
    isShared: false,
    migration: '0004-break',
    refusal: async () => undefined,
    clock: systemClock,
    log: silentLogger,
  });
  t.teardown(() => lock.release());
  const refused = t.rejects(rig.start(t, { databaseUrl }), { name: 'SchemaRefusal' });
  await until('it has checked the schema, and waits for the lock', async () => {
    const { rows } = await sql`select from pg_stat_activity where datname = current_database()
      and application_name = 'simrack-control-plane' and state = 'idle' and query = 'commit'`.execute(db);
    return rows.length > 0;
  });
  await opens(where, LAST);
  await lock.release();
  await refused;
});
