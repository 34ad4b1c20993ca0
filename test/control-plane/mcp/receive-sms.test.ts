// The tool receive_sms: it waits for a message, and no message is lost to a wait that ends otherwise.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { BUYERS, type Wallet } from '../../dev-stack/wallets.ts';
import { recoverToken } from '../../fixtures/payer.ts';
import { openDatabases } from '../../fixtures/postgres.ts';
import { createRig } from '../../fixtures/rig.ts';
import { ofOneInstance } from '../../fixtures/several-instances.ts';
import { HANDSHAKES, olderToolClient, STATELESS, toolClient } from '../../fixtures/tool-client.ts';
import { until } from '../../fixtures/until.ts';
import { isWaiting, unclaimed, WAIT_MS, waitingSubscriber } from '../../fixtures/waiting-subscriber.ts';

const rig = await createRig(openDatabases, { hasInstances: true });
const [ALICE] = BUYERS as [Wallet];

for (const revision of [STATELESS, ...HANDSHAKES]) {
  t.test(`${revision}: it is answered when the message is stored`, async (t) => {
    const alice = await waitingSubscriber(t, rig);
    const client = await toolClient(t, alice.url, { headers: alice.headers, revision });
    const call = client.call('receive_sms', { wait_seconds: 50 });
    await isWaiting(alice);
    await alice.deliver('your code is 417209');
    t.match((await call).structured, { count: 1, messages: [{ body: 'your code is 417209' }] });
    t.equal(alice.waits(), 0);
    t.same(await alice.bodies(), [], 'it is claimed');
  });

  t.test(`${revision}: it reports progress, and is empty when the time is over`, async (t) => {
    const alice = await waitingSubscriber(t, rig);
    const client = await toolClient(t, alice.url, { headers: alice.headers, revision });
    const reported: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void reported.push(progress);
    const call = client.call('receive_sms', { wait_seconds: 50 }, { onprogress });
    await isWaiting(alice);
    for (let seconds = 10; seconds < 50; seconds += 10) {
      alice.clock.advance(10_000);
      await until('progress was reported', () => (reported.at(-1) ?? 0) >= seconds - 5);
    }
    alice.clock.advance(10_000);
    t.same((await call).structured, { messages: [], count: 0 });
    t.ok(
      reported.every((seconds, index) => seconds > (reported[index - 1] ?? 0)),
      'it only grows',
    );
  });
}

t.test('the client of the first line waits, too', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await olderToolClient(t, alice.url, alice.headers);
  const call = client.call('receive_sms', { wait_seconds: 50 });
  await isWaiting(alice);
  await alice.deliver('hello');
  t.match((await call).structured, { count: 1 });
});

t.test('a message that is stored while the wait begins is not missed', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers });
  for (let round = 0; round < 20; round += 1) {
    const call = client.call('receive_sms', { wait_seconds: 50 });
    for (let turns = 0; turns < round; turns += 1) await turn();
    await alice.deliver(`message ${round}`);
    t.match((await call).structured, { count: 1, messages: [{ body: `message ${round}` }] });
  }
});

t.test('of several who wait one gets the message, and the others wait on', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers });
  const calls = Array.from({ length: 5 }, () => client.call('receive_sms', { wait_seconds: 50 }));
  await isWaiting(alice, 5);
  await alice.deliver('one');
  const first = await Promise.race(calls);
  t.match(first.structured, { count: 1 });
  await isWaiting(alice, 4);
  for (const [index, body] of ['two', 'three', 'four', 'five'].entries()) {
    await alice.deliver(body);
    // Another instance finds it with its next poll.
    await isWaiting(alice, 3 - index);
  }
  const all = await Promise.all(calls);
  const bodies = all.flatMap(({ structured }) => structured['messages'] as { body: string }[]);
  const rest = await alice.bodies();
  t.same([...bodies.map(({ body }) => body), ...rest].sort(), ['five', 'four', 'one', 'three', 'two']);
  t.ok(all.every(({ structured }) => Number(structured['count']) > 0));
});

t.test('what another instance stores is found', async (t) => {
  const here = await waitingSubscriber(t, rig);
  const elsewhere = await rig.start(t, { databaseUrl: here.databaseUrl });
  const client = await toolClient(t, elsewhere.url, { headers: here.headers });
  // The clock of this one runs by itself.
  const call = client.call('receive_sms', { wait_seconds: 50 });
  await here.deliver('hello');
  t.match((await call).structured, { count: 1, messages: [{ body: 'hello' }] });
});

t.test(
  'a token waits so often at once and no more',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const alice = await waitingSubscriber(t, rig, { waitsPerToken: 3 });
    const client = await toolClient(t, alice.url, { headers: alice.headers });
    const calls = [1, 2, 3].map(() => client.call('receive_sms', { wait_seconds: 50 }));
    await isWaiting(alice, 3);
    const { isError, structured } = await client.call('receive_sms', { wait_seconds: 50 });
    t.ok(isError);
    t.match(structured, { error: 'rate_limited', retry_after: Number });
    t.same((await client.call('receive_sms', { wait_seconds: 0 })).structured, { messages: [], count: 0 });
    alice.clock.advance(WAIT_MS);
    for (const call of calls) t.same((await call).structured, { messages: [], count: 0 });
    const again = client.call('receive_sms', { wait_seconds: 50 });
    await isWaiting(alice);
    await alice.deliver('hello');
    t.match((await again).structured, { count: 1 });
  },
);

t.test('a token that is revoked ends its waits', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers });
  const call = client.call('receive_sms', { wait_seconds: 50 });
  await isWaiting(alice);
  t.equal((await recoverToken(alice.url, ALICE.privateKey)).status, 200);
  const { isError, structured } = await call;
  t.ok(isError);
  t.match(structured, { error: 'unauthorized' });
});

t.test('a year that ends while it waits leaves the message', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers });
  const call = client.call('receive_sms', { wait_seconds: 50 });
  await isWaiting(alice);
  alice.clock.set(alice.clock.now() + 400 * 86_400_000);
  await alice.deliver('too late');
  const { isError, structured } = await call;
  t.ok(isError);
  t.match(structured, { error: 'unauthorized' });
  t.equal(await unclaimed(alice), 1);
});

t.test('a service that stops ends its waits, and loses nothing', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers });
  const call = client.call('receive_sms', { wait_seconds: 50 });
  await isWaiting(alice);
  await alice.node.drop();
  const stoppedAt = performance.now();
  const stopped = alice.service.stop();
  t.match((await call).structured, { error: 'restarting' });
  await stopped;
  t.ok(performance.now() - stoppedAt < 5_000, 'without the rest of the wait');
});
