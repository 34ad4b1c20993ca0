// Receivers that hang, floods, several instances and instances that die: order, isolation, and no event lost.
import t from 'tap';
import { startEventReceiver } from '../../fixtures/agents/event-receiver.ts';
import { webhookSubscriber } from '../../fixtures/agents/webhook-subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { clockedWebhooks, DEAD_INSTANCE } from '../../fixtures/service/clocked-webhooks.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });

/** The next events pass a receiver that has not answered for this long. */
const HANGS_AFTER_MS = 1_000;
const PATIENT = { heartbeatMs: 600_000, webhookTimeoutMs: 8_000 };

t.test('a receiver that hangs: the next events pass it, and other webhooks do not notice', async (t) => {
  const clock = new ManualClock();
  const { add, receive } = await webhookSubscriber(t, rig, { service: { ...PATIENT, clock } });
  const receiver = await startEventReceiver(t);
  const take = receiver.reply;
  receiver.reply = (event, response) =>
    event.path === '/hangs' && event.body.type === 'sms.received' && event.body.data.body === 'text 0'
      ? undefined
      : take(event, response);
  await add({ url: `${receiver.url}/hangs` });
  await add({ url: `${receiver.url}/works` });
  const texts = Array.from({ length: 10 }, (_, index) => `text ${index}`);
  await receive(...texts);
  await until('works', () => receiver.texts('/works').length === 10);
  await until('hangs', () => receiver.asked.some(({ path }) => path === '/hangs'));
  t.same(receiver.texts('/hangs'), [], 'no time has passed');
  // Long before the time-out.
  clock.advance(HANGS_AFTER_MS);
  await until('passed', () => receiver.texts('/hangs').length === 9);
  t.same(receiver.texts('/works'), texts);
  t.same(receiver.texts('/hangs'), texts.slice(1));
});

t.test('an event that comes while a request hangs is not kept waiting', async (t) => {
  const clock = new ManualClock();
  const { add, receive } = await webhookSubscriber(t, rig, { service: { ...PATIENT, clock } });
  const receiver = await startEventReceiver(t);
  const take = receiver.reply;
  receiver.reply = (event, response) =>
    event.body.type === 'sms.received' && event.body.data.body === 'hangs'
      ? undefined
      : take(event, response);
  await add({ url: receiver.url });
  await receive('hangs');
  await until('hangs', () => receiver.asked.length === 1);
  clock.advance(HANGS_AFTER_MS);
  await receive('prompt');
  // No time passes for it.
  await until('prompt', () => receiver.texts().length === 1);
});

t.test('three instances on one database: each event once, in order', async (t) => {
  const alice = await webhookSubscriber(t, rig);
  const { databaseUrl } = alice;
  for (let count = 0; count < 2; count += 1) await rig.start(t, { databaseUrl, webhookAllowPrivate: true });
  const receiver = await startEventReceiver(t);
  for (let hook = 0; hook < 3; hook += 1) await alice.add({ url: `${receiver.url}/${hook}` });
  const texts = Array.from({ length: 60 }, (_, index) => `text ${index}`);
  await alice.receive(...texts);
  await until('all', () => receiver.taken.length >= 180);
  for (let hook = 0; hook < 3; hook += 1) t.same(receiver.texts(`/${hook}`), texts);
  t.equal(receiver.asked.length, 180);
});

t.test(
  'an instance that dies with a queue: another one sends what waits when the lease is over',
  async (t) => {
    const { add, clock, db, pollEnds, polled, put } = await clockedWebhooks(t, rig);
    const receiver = await startEventReceiver(t);
    const { id } = await add({ url: receiver.url });
    await db
      .updateTable('webhooks')
      .set({ lease_instance: DEAD_INSTANCE, lease_until: new Date(clock.now() + 90_000) })
      .where('id', '=', id)
      .execute();
    await put('waits');
    for (let round = 0; round < 20; round += 1) {
      clock.advance(4_000);
      await pollEnds();
    }
    t.equal(receiver.asked.length, 0, 'the lease may be of an instance that is sending');
    clock.advance(11_000);
    await polled('sent', () => receiver.texts().length === 1);
  },
);
