// The bus of several instances while NATS is away, hangs, or refuses them: their requests are certainly not sent, and then all is as before.
import { connect as connectTo } from '@nats-io/transport-node';
import t from 'tap';
import { type BusEvent, NoResponder } from '#control-plane/bus/bus.ts';
import type { NatsServer } from '../../dev-stack/nats.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { skipWithoutNats, startNats } from '../../fixtures/service/nats.ts';
import { changed, instance, SECOND, settled } from '../../fixtures/service/nats-instance.ts';
import { until } from '../../fixtures/until.ts';

const skip = skipWithoutNats();

t.test(
  'while NATS is away: own events go on, requests are certainly not sent; then all is as before',
  { skip },
  async (t) => {
    const nats = await startNats(t);
    const [one, other] = [await instance(t, nats), await instance(t, nats)];
    other.bus.serve('node.rack-1', async () => 'ok');
    await nats.kill();
    await until('both know', () => !one.bus.isConnected && !other.bus.isConnected);
    one.bus.publish(changed('sub_1'));
    t.same(one.heard, [changed('sub_1')]);
    await t.rejects(one.bus.request('node.rack-1', 1, SECOND), NoResponder);
    await nats.start();
    await until('both are back', () => one.bus.isConnected && other.bus.isConnected);
    await until('it is served again', () => one.bus.request('node.rack-1', 1, SECOND).catch(() => undefined));
    t.notOk(JSON.stringify(other.heard).includes('sub_1'), 'an old hint is not sent late');
  },
);

t.test('a bus that was stopped: own events go on, and no call throws at its caller', { skip }, async (t) => {
  const nats = await startNats(t);
  const [{ bus, heard }, other] = [await instance(t, nats), await instance(t, nats)];
  const stopServing = bus.serve('node.rack-1', async () => 'ok');
  await until('served', () => other.bus.request('node.rack-1', 1, SECOND).catch(() => undefined));
  const changes: BusEvent[] = [];
  bus.subscribe((event) => void (event.kind === 'bus_changed' && changes.push(event)));
  const stopped = bus.stop();
  for (const round of ['while it stops', 'afterwards']) {
    t.equal(bus.isConnected, false, round);
    bus.publish(changed(round));
    bus.serve('node.rack-2', async () => 'ok')();
    await t.rejects(
      bus.request('node.rack-1', 1, SECOND),
      { name: 'NoResponder', isUndecided: false },
      round,
    );
    await stopped;
  }
  stopServing();
  t.same([heard, changes], [[changed('while it stops'), changed('afterwards')], []]);
  // NATS knows of the end of a connection a moment later.
  await until('it serves no longer', async () => {
    const error = await other.bus.request('node.rack-1', 1, SECOND).catch((error: unknown) => error);
    if (!(error instanceof NoResponder)) throw error;
    return !error.isUndecided;
  });
  t.same(other.heard, [], 'and the other instance heard nothing');
});

t.test('of two servers of a cluster either one may die', { skip }, async (t) => {
  const startBoth = async (): Promise<[NatsServer, NatsServer]> => {
    const routes = [await freePort(), await freePort()].map((port) => `nats://127.0.0.1:${port}`);
    const start = (own: number): Promise<NatsServer> =>
      startNats(t, ['--cluster_name', 'c', '--cluster', String(routes[own]), '--routes', routes.join()]);
    return [await start(0), await start(1)];
  };
  // Another program may have taken a free port meanwhile.
  const [first, second] = await startBoth().catch(startBoth);
  const urls = [first.url, second.url];
  const [one, other] = [await instance(t, { ...first, urls }), await instance(t, { ...first, urls })];
  other.bus.serve('node.rack-1', async (request) => request);
  const isServed = (): Promise<unknown> =>
    until('served', () => one.bus.request('node.rack-1', 'text', SECOND).catch(() => undefined));
  t.equal(await isServed(), 'text');
  // Both instances are at the second one then, and both must leave it.
  await first.kill();
  t.equal(await isServed(), 'text');
  await first.start();
  await second.kill();
  t.equal(await isServed(), 'text');
  one.bus.publish(changed('sub_1'));
  await until('events pass, too', () => other.heard.length > 0);
});

t.test('an instance that starts while NATS is away meets the others later', { skip }, async (t) => {
  const nats = await startNats(t);
  await nats.kill();
  const [one, other] = [await instance(t, nats), await instance(t, nats)];
  other.bus.serve('node.rack-1', async () => 'ok');
  t.equal(one.bus.isConnected, false);
  await nats.start();
  await until('served', () => one.bus.request('node.rack-1', 1, SECOND).catch(() => undefined));
});

t.test(
  'a server that hangs: a request is certainly not sent, also later, and the hang is noticed',
  {
    skip,
    timeout: 60_000,
  },
  async (t) => {
    const nats = await startNats(t);
    const [one, other] = [await instance(t, nats), await instance(t, nats)];
    const got: unknown[] = [];
    other.bus.serve('node.rack-1', async (request) => got.push(request));
    const send = (text: string) => one.bus.request('node.rack-1', text, SECOND);
    // A request that was sent without an answer in time may have arrived: only one that was certainly not sent is repeated.
    const isArriving = (text: string) =>
      until('served', () =>
        send(text).catch((error: unknown) => {
          if (!(error instanceof NoResponder)) throw error;
        }),
      );
    await isArriving('before');
    nats.setFrozen(true);
    await t.rejects(send('text'), { name: 'NoResponder', isUndecided: true });
    t.equal(one.bus.isConnected, true, 'the hang was not noticed yet');
    nats.setFrozen(false);
    // On the same connection: the server would have passed on the text first.
    await isArriving('after the thaw');
    t.same(got, ['before', 'after the thaw']);
    nats.setFrozen(true);
    await until('the loss', () => !one.bus.isConnected, 30_000);
    nats.setFrozen(false);
    await until('the return', () => one.bus.isConnected, 30_000);
    await isArriving('after the return');
    t.same(got, ['before', 'after the thaw', 'after the return']);
  },
);

t.test('a server that refuses the credentials for a while', { skip }, async (t) => {
  const right = ['--user', 'u', '--pass', 'p'];
  const nats = await startNats(t, right);
  const url = nats.url.replace('//', '//u:p@');
  const [one, other] = [await instance(t, { url }), await instance(t, { url })];
  await settled(one, other);
  await nats.kill();
  await nats.start(['--user', 'u', '--pass', 'another']);
  const stranger = { servers: nats.url.replace('nats://', ''), user: 'u', pass: 'another' };
  const log = await connectTo(stranger);
  await until('both are refused', () => !one.bus.isConnected && !other.bus.isConnected);
  // Longer than several attempts.
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    t.equal(one.bus.isConnected, false);
  }
  await log.close();
  await nats.kill();
  await nats.start(right);
  await until('both are back', () => one.bus.isConnected && other.bus.isConnected);
  other.heard.length = 0;
  one.bus.publish(changed('sub_1'));
  await until('heard', () => other.heard.length === 1);
});
