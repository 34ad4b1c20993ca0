// Which instances may start beside each other on one database. The one that must not start is a program.
import { sql } from 'kysely';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { openAsItIs } from '#control-plane/store/database/database.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { skipWithoutNats, startNats } from '../../fixtures/service/nats.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { startServiceProcess } from '../../fixtures/service/service-process.ts';
import { until } from '../../fixtures/until.ts';

const skip = skipWithoutNats();
const TIMEOUT = { timeout: 120_000 };

const rig = await createRig();
const { chain, postgres } = rig;

const isReady = async (url: string): Promise<boolean> => (await fetch(`${url}/health/ready`)).status === 200;

const start = (t: Test, databaseUrl: string, natsUrl?: string) =>
  startServiceProcess(t, {
    databaseUrl,
    rpcUrl: chain.rpcUrl,
    env: natsUrl === undefined ? {} : { NATS_URL: natsUrl },
  });

t.test('two without NATS_URL: the second refuses, until the first has ended', TIMEOUT, async (t) => {
  const databaseUrl = await postgres.createMigrated();
  const first = await start(t, databaseUrl);
  await t.rejects(
    start(t, databaseUrl),
    /ended with 1: [\s\S]*stop it, or set the same NATS_URL for all instances/,
  );
  t.ok(first.isAlive(), 'the first goes on');
  t.ok(await isReady(first.url));
  const [status, second] = await Promise.all([first.stop(), start(t, databaseUrl)]);
  t.equal(status, 0);
  t.ok(await isReady(second.url), 'it waited for the end of the first');
});

t.test('one with NATS_URL and one without: the second refuses', { skip, ...TIMEOUT }, async (t) => {
  const { url } = await startNats(t);
  for (const [firsts, seconds, advice] of [
    [undefined, url, /another instance without NATS_URL uses this database: stop it, or set NATS_URL for it/],
    [url, undefined, /stop it, or set the same NATS_URL for all instances/],
  ] as const) {
    const databaseUrl = await postgres.createMigrated();
    const first = await rig.start(t, { databaseUrl, natsUrl: firsts === undefined ? undefined : [firsts] });
    await t.rejects(start(t, databaseUrl, seconds), advice);
    t.ok(await isReady(first.url));
  }
});

t.test('two with NATS_URL run; one with a wrong password refuses', { skip, ...TIMEOUT }, async (t) => {
  const { url } = await startNats(t, ['--user', 'u', '--pass', 'p']);
  const databaseUrl = await postgres.createMigrated();
  const right = url.replace('//', '//u:p@');
  const both = [];
  for (const _ of ['first', 'second']) both.push(await rig.start(t, { databaseUrl, natsUrl: [right] }));
  await t.rejects(
    start(t, databaseUrl, url.replace('//', '//u:wrong@')),
    /ended with 1: [\s\S]*NATS refuses this service/,
  );
  for (const { url } of both) t.ok(await isReady(url));
});

t.test(
  'one whose lock is lost while a newer version changes the schema stops, and says why',
  TIMEOUT,
  async (t) => {
    const databaseUrl = await postgres.createMigrated();
    const first = await start(t, databaseUrl);
    const { db, close } = await openAsItIs({ url: databaseUrl, connectionsMax: 1 });
    t.teardown(close);
    const newer = new Client({ connectionString: databaseUrl });
    await newer.connect();
    t.teardown(() => newer.end());
    const { rows: held } = await sql<{ pid: number; lock: string }>`
    select pid, ((classid::bigint << 32) | objid::bigint)::text as lock from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and objsubid = 1 and application_name = 'simrack-instance-lock'
      and pg_locks.database = (select oid from pg_database where datname = current_database())`.execute(db);
    t.equal(held.length, 1);
    const waits = newer.query('select pg_advisory_lock($1)', [held[0]?.lock]);
    await until('the newer version waits for the lock', waitsForLock(db));
    await sql`select pg_terminate_backend(${held[0]?.pid})`.execute(db);
    await waits;
    await sql`insert into kysely_migration values ('9999-newer', now()::text)`.execute(db);
    await sql`insert into schema_versions values ('9999-newer', '9999-newer')`.execute(db);
    await newer.query('select pg_advisory_unlock_all()');
    await until('it has ended', () => !first.isAlive(), 60_000);
    t.equal(await first.stop(), 1);
    t.match(first.log(), /stopping: the program cannot go on/);
    t.match(first.log(), /needs a program that knows 9999-newer/);
  },
);
