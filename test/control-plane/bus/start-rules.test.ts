// Which instances may start beside each other on one database, as programs.
import t, { type Test } from 'tap';
import { skipWithoutNats, startNats } from '../../fixtures/nats.ts';
import { startPaidChain } from '../../fixtures/paid-chain.ts';
import { openDatabases } from '../../fixtures/postgres.ts';
import { startServiceProcess } from '../../fixtures/service-process.ts';

const skip = skipWithoutNats();
const TIMEOUT = { timeout: 120_000 };

const [chain, postgres] = await Promise.all([startPaidChain(), openDatabases()]);
t.teardown(() => Promise.all([chain.stop(), postgres.stop()]));

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
  t.equal((await fetch(`${first.url}/health/ready`)).status, 200);
  const [status, second] = await Promise.all([first.stop(), start(t, databaseUrl)]);
  t.equal(status, 0);
  t.equal((await fetch(`${second.url}/health/ready`)).status, 200, 'it waited for the end of the first');
});

t.test('one with NATS_URL and one without: the second refuses', { skip, ...TIMEOUT }, async (t) => {
  const { url } = await startNats(t);
  for (const [firsts, seconds, advice] of [
    [undefined, url, /another instance without NATS_URL uses this database: stop it, or set NATS_URL for it/],
    [url, undefined, /stop it, or set the same NATS_URL for all instances/],
  ] as const) {
    const databaseUrl = await postgres.createMigrated();
    const first = await start(t, databaseUrl, firsts);
    await t.rejects(start(t, databaseUrl, seconds), advice);
    t.ok(first.isAlive());
  }
});

t.test('two with NATS_URL run; one with a wrong password refuses', { skip, ...TIMEOUT }, async (t) => {
  const { url } = await startNats(t, ['--user', 'u', '--pass', 'p']);
  const databaseUrl = await postgres.createMigrated();
  const right = url.replace('//', '//u:p@');
  const both = [await start(t, databaseUrl, right), await start(t, databaseUrl, right)];
  await t.rejects(
    start(t, databaseUrl, url.replace('//', '//u:wrong@')),
    /ended with 1: [\s\S]*NATS refuses this service/,
  );
  for (const each of both) t.ok(each.isAlive());
});
