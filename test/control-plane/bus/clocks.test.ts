// Two instances whose clocks differ by more than a minute: they refuse each other's messages, report it, and read from the store.
import { connect as connectTo } from '@nats-io/transport-node';
import t, { type Test } from 'tap';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { FAR_END, telephone, telephoneClient } from '../../fixtures/agents/telephone.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { startNats } from '../../fixtures/service/nats.ts';
import { changed, instance, SECOND, settled } from '../../fixtures/service/nats-instance.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const START = Date.now();
const DOUBT_MS = 5 * 60_000;
const REFUSED = { level: 'warn', message: /bus message refused: its time differs.*clocks/ };

/** One whose clock is right, and another one whose clock is so far ahead. */
async function apart(t: Test, aheadMs: number) {
  const nats = await startNats(t);
  const [clock, otherClock] = [new ManualClock(START), new ManualClock(START + aheadMs)];
  const one = await instance(t, nats, { clock });
  const other = await instance(t, nats, { clock: otherClock });
  /** A client of the server without the secret. */
  const stranger = await connectTo({ servers: nats.url.replace('nats://', '') });
  t.teardown(() => stranger.close());
  return { nats, clock, otherClock, one, other, stranger };
}

const hasTrouble = (...instances: ReadonlyArray<Awaited<ReturnType<typeof instance>>>): boolean[] =>
  instances.map(({ bus }) => bus.trouble() !== undefined);

for (const aheadMs of [61_000, -61_000]) {
  t.test(`${aheadMs} ms apart: requests are certainly not sent, and both have a reason`, async (t) => {
    const { clock, otherClock, one, other } = await apart(t, aheadMs);
    other.bus.serve('node.rack-1', async () => t.fail('a request was believed'));
    // An event overtakes no subscription of its own connection.
    other.bus.publish(changed('sub_1'));
    await until('the event of the other one', () => one.bus.trouble());
    t.match(one.lines.at(-1), { ...REFUSED, fields: { aheadSeconds: aheadMs / 1000 } });
    await t.rejects(one.bus.request('node.rack-1', 'text', SECOND), {
      name: 'NoResponder',
      isUndecided: true,
    });
    t.match(other.lines, [{ ...REFUSED, fields: { aheadSeconds: -aheadMs / 1000 } }]);
    t.match(other.bus.trouble(), /time differs by more than 60 seconds.*clocks.*NTP/);
    t.same(one.heard, []);
    t.same([one.bus.isConnected, other.bus.isConnected], [false, false], 'neither relies on the other');
    clock.advance(DOUBT_MS);
    otherClock.advance(DOUBT_MS);
    t.same(hasTrouble(one, other), [false, false], 'only for some minutes');
  });
}

t.test('a minute apart: they understand each other', async (t) => {
  const { one, other } = await apart(t, 60_000);
  await settled(one, other);
  await settled(other, one);
  t.same(hasTrouble(one, other), [false, false]);
  t.same([...one.lines, ...other.lines], []);
});

t.test('a stranger does not make an instance doubt the clocks: lies and fresh repeats', async (t) => {
  const { clock, otherClock, one, other, stranger } = await apart(t, 0);
  const seen: Uint8Array[] = [];
  stranger.subscribe('p.events', { callback: (_error, { data }) => void seen.push(data) });
  await stranger.flush();
  await settled(one, other);
  const [recorded] = await until('recorded', () => (seen.length > 0 ? seen : undefined));
  for (const each of [clock, otherClock]) each.advance(61_000);
  stranger.publish('p.events', recorded);
  const lie = Buffer.concat([Buffer.alloc(32), Buffer.from(JSON.stringify({ id: 'x', at: 0 }))]);
  stranger.publish('p.events', lie);
  await stranger.flush();
  await until('both refused', () => other.lines.length === 2);
  t.match(other.lines, [{ message: /it came before/ }, { message: /not authentic/ }]);
  t.equal(other.bus.trouble(), undefined);
  for (let more = 0; more < 50; more += 1) stranger.publish('p.events', lie);
  await stranger.flush();
  await settled(one, other);
  t.equal(other.lines.length, 2, 'a flood writes no line for each');
  for (const each of [clock, otherClock]) each.advance(60_000);
  t.match(other.lines.slice(2), [
    { message: /more bus messages refused.*not authentic/, fields: { count: 50 } },
  ]);
});

t.test('the doubt ends five minutes after the last refusal, and the change is reported', async (t) => {
  const { otherClock, one, other } = await apart(t, 61_000);
  const changes: boolean[] = [];
  other.bus.subscribe((event) => void (event.kind === 'bus_changed' && changes.push(event.isConnected)));
  for (const refused of [1, 2]) {
    one.bus.publish(changed('sub_1'));
    await until('refused', () => other.lines.length === refused);
    otherClock.advance(DOUBT_MS - 1);
    t.same(changes, [false]);
  }
  otherClock.advance(1);
  t.same([changes, other.bus.trouble()], [[false, true], undefined]);
});

t.test('two services: the health of both names the clocks, and rings are read from the store', async (t) => {
  const [clock, otherClock] = [new ManualClock(START + 61_000), new ManualClock(START)];
  const service = { heartbeatMs: 3_600_000 };
  const here = await telephone(t, rig, { service: { ...service, clock } });
  const { databaseUrl, headers, node } = here;
  const there = await rig.start(t, { ...service, clock: otherClock, databaseUrl });
  const health = async (url: string) => {
    const answer = await fetch(`${url}/health/ready`);
    const { status, checks } = (await answer.json()) as { status: string; checks: { instances: object } };
    return { code: answer.status, status, instances: checks.instances };
  };
  const send = () => request(`${there.url}/sms/send`, jsonPost({ to: FAR_END, body: 'hello' }, headers));
  t.match(await send(), { status: 502, body: { error: 'phone_node_error', message: /offline/ } });
  const warns = { code: 200, status: 'warn', instances: { status: 'warn', output: /clocks/ } };
  t.match(await health(here.url), warns, 'it got the request');
  node.send({ type: 'slots', slots: [slotAt(1, { signal_dbm: -90 })], alarms: [] });
  t.match(
    await until('an event came', async () => {
      const read = await health(there.url);
      return read.status === 'warn' && read;
    }),
    warns,
  );
  t.equal(node.commands('send_sms').length, 0);
  const watcher = await telephoneClient(t, { url: there.url, headers, number: here.number }).presence();
  here.line.ring();
  await until('the ring', () => {
    otherClock.advance(1_000);
    return watcher.of({ kind: 'ringing' }).length === 1;
  });
  clock.set(otherClock.now());
  t.match(await send(), { status: 200 });
  for (const each of [clock, otherClock]) each.advance(DOUBT_MS);
  for (const { url } of [here, there]) t.match(await health(url), { status: 'pass' });
});
