// The answers to a proxy and a supervisor.
import { sql } from 'kysely';
import t from 'tap';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { countStatements } from '../../fixtures/database/statements.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

t.test('a running service is live and ready, by GET and HEAD', async (t) => {
  const { url } = await rig.start(t);
  t.same(await (await fetch(`${url}/health/live`)).json(), { status: 'pass' });
  const ready = await fetch(`${url}/health/ready`);
  t.equal(ready.status, 200);
  t.equal(ready.headers.get('cache-control'), 'no-store');
  t.same(await ready.json(), {
    status: 'pass',
    checks: { database: { status: 'pass' }, serving: { status: 'pass' }, payments: { status: 'pass' } },
  });
  t.equal((await fetch(`${url}/health/ready`, { method: 'HEAD' })).status, 200);
});

t.test('the database is asked once a second, however many ask; its absence is logged once', async (t) => {
  const clock = new ManualClock();
  const { log, lines } = recordedLog();
  const { url, databaseUrl } = await rig.start(t, { clock, log });
  const name = new URL(databaseUrl).pathname.slice(1);
  const other = await openDatabase({ url: await rig.postgres.createMigrated(), connectionsMax: 1 });
  t.teardown(other.close);
  const ask = async (): Promise<string> => {
    const answers = Array.from({ length: 20 }, async () => (await fetch(`${url}/health/ready`)).status);
    return [...new Set(await Promise.all(answers))].join();
  };
  const allow = (isAllowed: boolean) =>
    sql`alter database ${sql.id(name)} allow_connections ${sql.raw(String(isAllowed))}`.execute(other.db);
  const notReady = (): number => lines.filter(({ message }) => message === 'not ready').length;

  await roundIsOver(clock);
  const statements = countStatements(t);
  t.equal(await ask(), '200');
  t.equal(await ask(), '200');
  t.equal(statements(), 1);
  clock.advance(1_000);
  t.equal(await ask(), '200');
  t.equal(statements(), 2);

  await allow(false);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(other.db);
  t.equal(await ask(), '200', 'remembered');
  for (let second = 0; second < 5; second += 1) {
    clock.advance(1_000);
    t.equal(await ask(), '503');
  }
  t.equal(notReady(), 1);
  await allow(true);
  clock.advance(1_000);
  t.equal(await ask(), '200');
  await allow(false);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(other.db);
  clock.advance(1_000);
  t.equal(await ask(), '503');
  t.equal(notReady(), 2, 'and again when it is away again');
  await allow(true);
});
