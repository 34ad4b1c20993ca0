// The tool receive_sms: it waits for a message, and no message is lost to a wait that ends otherwise.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { hashToken, mintToken } from '#control-plane/domain/bearer-token.ts';
import { replaceTokens } from '#control-plane/store/money/credentials.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { HANDSHAKES, olderToolClient, STATELESS, toolClient } from '../../fixtures/agents/tool-client.ts';
import {
  idle,
  isWaiting,
  unclaimed,
  WAIT_MS,
  waitingSubscriber,
} from '../../fixtures/agents/waiting-subscriber.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const shared = await waitingSubscriber(t, rig, { requestsPerMinute: 10_000, tokenRequestsPerMinute: 10_000 });

for (const revision of [STATELESS, ...HANDSHAKES]) {
  t.test(`${revision}: it is answered when the message is stored`, async (t) => {
    const alice = await idle(shared);
    const client = await toolClient(t, alice.url, { headers: alice.headers, revision });
    const call = client.call('receive_sms', { wait_seconds: 50 });
    await isWaiting(alice);
    await alice.deliver('your code is 417209');
    t.match((await call).structured, { count: 1, messages: [{ body: 'your code is 417209' }] });
    t.equal(alice.waits(), 0);
    t.same(await alice.bodies(), [], 'it is claimed');
  });

  t.test(`${revision}: it reports progress, and is empty when the time is over`, async (t) => {
    const alice = await idle(shared);
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
  const alice = await idle(shared);
  const client = await olderToolClient(t, alice.url, alice.headers);
  const call = client.call('receive_sms', { wait_seconds: 50 });
  await isWaiting(alice);
  await alice.deliver('hello');
  t.match((await call).structured, { count: 1 });
});

t.test('a message that is stored while the wait begins is not missed', async (t) => {
  const alice = await idle(shared);
  const client = await toolClient(t, alice.url, { headers: alice.headers });
  for (let round = 0; round < 20; round += 1) {
    const call = client.call('receive_sms', { wait_seconds: 50 });
    for (let turns = 0; turns < round; turns += 1) await turn();
    await alice.deliver(`message ${round}`);
    t.match((await call).structured, { count: 1, messages: [{ body: `message ${round}` }] });
  }
});

t.test('one of several waiters gets the message, and the others wait on', async (t) => {
  const alice = await idle(shared);
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

t.test('a message that another instance stores is found within a second', async (t) => {
  const here = await idle(shared);
  let hasBegun = false;
  // It runs by itself.
  const clock: Clock = {
    now: () => systemClock.now(),
    after(delayMs, callback) {
      hasBegun ||= delayMs === WAIT_MS;
      return systemClock.after(delayMs, callback);
    },
  };
  const elsewhere = await rig.start(t, { databaseUrl: here.databaseUrl, clock });
  const client = await toolClient(t, elsewhere.url, { headers: here.headers });
  const call = client.call('receive_sms', { wait_seconds: 50 });
  await until('it waits', () => hasBegun);
  // So that it is not the first claim that finds the message.
  await pause(300);
  await here.deliver('hello');
  const storedAt = performance.now();
  t.match((await call).structured, { count: 1, messages: [{ body: 'hello' }] });
  // On a loaded machine.
  t.ok(performance.now() - storedAt < 2_500, 'within a second');
});

t.test(
  'a token may have only so many waits at once',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const alice = await waitingSubscriber(t, rig, { waitsPerToken: 3 });
    const client = await toolClient(t, alice.url, { headers: alice.headers });
    const calls = [1, 2, 3].map(() => client.call('receive_sms', { wait_seconds: 50 }));
    await isWaiting(alice, 3);
    const { isError, structured } = await client.call('receive_sms', { wait_seconds: 50 });
    t.ok(isError);
    t.match(structured, { error: 'rate_limited', retry_after: Number });
    t.match((await client.call('wait_for_call', { wait_seconds: 50 })).structured, {
      error: 'rate_limited',
      retry_after: Number,
    });
    t.same((await client.call('receive_sms', { wait_seconds: 0 })).structured, { messages: [], count: 0 });
    t.same((await client.call('wait_for_call', { wait_seconds: 0 })).structured, { call: null });
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

t.test('a token that is revoked while the bus is away gets no message', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers });
  const call = client.call('receive_sms', { wait_seconds: 50 });
  await isWaiting(alice);
  await rig.nats?.kill();
  t.teardown(() => rig.nats?.start());
  const db = await openTestDatabase(t, alice.databaseUrl);
  const { id: subscriptionId } = await db.selectFrom('subscriptions').select('id').executeTakeFirstOrThrow();
  await replaceTokens(db, { hash: hashToken(mintToken()), subscriptionId, now: new Date() });
  const { headers } = alice;
  let refusals = 0;
  await until('no instance accepts it', async () => {
    const { status } = await fetch(`${alice.url}/number`, { headers });
    refusals = status === 401 ? refusals + 1 : 0;
    return refusals === 10;
  });
  await until('the bus is away', async () => {
    const health = (await (await fetch(`${alice.url}/health/ready`)).json()) as { status: string };
    return health.status === 'warn';
  });
  await alice.deliver('not for a former token');
  const { isError, structured } = await call;
  t.ok(isError);
  t.match(structured, { error: 'unauthorized' });
  t.equal(await unclaimed(alice), 1);
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
