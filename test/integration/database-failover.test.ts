// A primary Postgres that is killed under traffic, and a standby that takes its place.
import { connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { startReplicatedPostgres } from '../fixtures/database/replicated-postgres.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { Traffic } from '../fixtures/stacks/traffic.ts';
import { isWhole } from '../fixtures/sweep.ts';
import { until } from '../fixtures/until.ts';

const ROUNDS = isWhole() ? 10 : 2;
const PAYERS = 3;
const TIMEOUT = { timeout: isWhole() ? 1_200_000 : 390_000 };

const rig = await createRig({ openServer: () => startReplicatedPostgres() });
const { postgres } = rig;

/** A proxy that leads to the present primary, as a load balancer or a virtual address does. */
async function proxyToPrimary(t: Test): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(postgres.ports().primary, '127.0.0.1');
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as { port: number }).port;
}

async function failOver(t: Test, databaseUrl: string, rounds: number): Promise<void> {
  const { url } = await rig.start(t, { databaseUrl });
  const traffic = await Traffic.start(t, { chain: rig.chain, url: () => url, databaseUrl, payers: PAYERS });
  await traffic.passes();
  for (let round = 1; round <= rounds; round += 1) {
    await postgres.killPrimary();
    const away = traffic.statuses.get(503) ?? 0;
    await until('requests notice', () => (traffic.statuses.get(503) ?? 0) > away + 3);
    await postgres.promote();
    await traffic.passes();
    await postgres.addStandby();
    await traffic.passes();
  }
  await traffic.check(t);
  t.ok((traffic.statuses.get(503) ?? 0) > 0, 'clients noticed');
  t.comment(`${traffic.node.acknowledged} facts, ${traffic.node.links} links, answers`, traffic.statuses);
}

t.test('a URL of both servers: no fact and no payment is lost or done twice', TIMEOUT, async (t) =>
  failOver(t, await postgres.createMigrated(), ROUNDS),
);

t.test('a URL that leads to the primary, as through a load balancer', TIMEOUT, async (t) => {
  const url = new URL(postgres.primaryOf(await postgres.createMigrated()));
  url.port = String(await proxyToPrimary(t));
  await failOver(t, url.href, 1);
});

t.test('a primary that hangs, is replaced, and goes on as if nothing had happened', TIMEOUT, async (t) => {
  const databaseUrl = await postgres.createMigrated();
  const { url } = await rig.start(t, { databaseUrl });
  const traffic = await Traffic.start(t, { chain: rig.chain, url: () => url, databaseUrl, payers: PAYERS });
  await traffic.passes();
  const thaw = postgres.freezePrimary();
  t.teardown(thaw);
  await postgres.promote();
  await traffic.passes();
  thaw();
  await traffic.passes();
  await traffic.check(t);
});
