// A receiver that fails: attempts as the specification has them, a pause of the webhook, its end after three days, and replay.
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { pauseMs, RETRY_WAITS_MS, retryWaitMs } from '#control-plane/domain/webhook-schedule.ts';
import { replaySince } from '#control-plane/store/webhooks/webhook-deliveries.ts';
import { startEventReceiver } from '../../fixtures/agents/event-receiver.ts';
import { clockedWebhooks } from '../../fixtures/service/clocked-webhooks.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

t.test(
  'the schedule: ten attempts in three days; a receiver may ask for more time, up to a day',
  async (t) => {
    // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, "Retry schedule".
    t.same(
      RETRY_WAITS_MS,
      [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1000),
    );
    t.equal(retryWaitMs(1, 0, 0), 5_000);
    t.equal(retryWaitMs(1, 0, 1), 5_500);
    t.equal(retryWaitMs(1, 60_000, 0), 60_000);
    t.equal(retryWaitMs(1, 100 * DAY_MS, 0), DAY_MS);
    t.equal(retryWaitMs(10, 0, 0), undefined);
    t.same([0, 1, 2, 3, 4, 5, 50].map(pauseMs), [0, 0, 0, 5_000, 10_000, 20_000, 300_000]);
  },
);

t.test('a failed delivery waits 5 s, then 5 min; the others go on, and the id stays', async (t) => {
  const { add, clock, deliveries, hooks, polled, put, recorded } = await clockedWebhooks(t, rig);
  const receiver = await startEventReceiver(t);
  const take = receiver.reply;
  const attempts: number[] = [];
  receiver.reply = (event, response) => {
    if (event.body.type !== 'sms.received' || event.body.data.body !== 'no') return take(event, response);
    attempts.push(clock.now());
    return void response.writeHead(500).end();
  };
  const hook = await add({ url: receiver.url });
  receiver.secrets.push(hook.secret);
  receiver.now = () => clock.now();
  await put('no', 'yes');
  await recorded('both tried', () => receiver.asked.length === 2);
  t.same(receiver.texts(), ['yes']);
  t.match(await deliveries(hook.id), [
    { state: 'delivered' },
    { state: 'waiting', attempts: 1, status: 500, error: 'HTTP 500' },
  ]);
  await polled('second', () => attempts.length === 2);
  await recorded('third', () => attempts.length === 3);
  const [first = 0, second = 0, third = 0] = attempts;
  t.ok(second - first >= 5 * SECOND_MS && second - first <= 9 * SECOND_MS, `${second - first}`);
  t.ok(third - second >= 300 * SECOND_MS && third - second <= 335 * SECOND_MS, `${third - second}`);
  t.equal(
    new Set(receiver.asked.filter(({ id }) => id !== receiver.taken[0]?.id).map(({ id }) => id)).size,
    1,
  );
  const [now] = await hooks();
  t.match(now, { enabled: true, last_error: 'HTTP 500', waiting: 1 });
  receiver.reply = take;
  clock.advance(2_400 * SECOND_MS);
  await polled('delivered after all', () => receiver.texts().length === 2);
  await polled('healthy', async () => (await hooks())[0]?.failing_since === null);
});

t.test(
  'a dead receiver costs an attempt in five minutes, and is disabled after three days, with a reason',
  async (t) => {
    const { add, call, clock, hooks, isIdle, pollEnds, polled, put, deliveries } = await clockedWebhooks(
      t,
      rig,
    );
    const receiver = await startEventReceiver(t);
    const take = receiver.reply;
    receiver.reply = (_event, response) => void response.writeHead(503).end();
    const hook = await add({ url: receiver.url });
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`);
    await put(...texts);
    await polled('tried', () => receiver.asked.length >= 3);
    const before = receiver.asked.length;
    for (let minute = 0; minute < 30; minute += 1) {
      clock.advance(60 * SECOND_MS);
      await pollEnds();
    }
    t.ok(receiver.asked.length - before <= 20, `${receiver.asked.length - before} attempts in 30 minutes`);
    clock.advance(3 * DAY_MS);
    // Ten failures in all, each after a pause of five minutes.
    await polled('disabled', async () => {
      if ((await hooks())[0]?.enabled === false) return true;
      if (await isIdle()) clock.advance(300 * SECOND_MS);
      return false;
    });
    const [disabled] = await hooks();
    t.match(disabled?.disabled_reason, /^Every attempt failed for three days: HTTP 503\./);
    const asked = receiver.asked.length;
    const since = new Date(clock.now()).toISOString();
    await put('while disabled');
    clock.advance(600 * SECOND_MS);
    await pollEnds();
    t.equal(receiver.asked.length, asked, 'no attempt of a disabled webhook');
    receiver.reply = take;
    t.match(await call('PATCH', `/webhooks/${hook.id}`, { enabled: true }), {
      status: 200,
      body: { enabled: true, disabled_reason: null, failing_since: null },
    });
    await polled('the waiting events are sent', () => receiver.texts().length >= 90);
    t.notOk(receiver.texts().includes('while disabled'), 'nothing was queued');
    t.match((await call('POST', `/webhooks/${hook.id}/replay`, { since })).body, { queued: 1 });
    await polled('replayed', () => receiver.texts().includes('while disabled'));
    t.ok((await deliveries(hook.id, '?limit=100')).length === 100);
  },
);

t.test('two failures with quiet days between them do not disable a webhook', async (t) => {
  const { add, call, clock, deliveries, hooks, polled, put } = await clockedWebhooks(t, rig);
  const receiver = await startEventReceiver(t);
  const take = receiver.reply;
  receiver.reply = (_event, response) => void response.writeHead(502).end();
  const hook = await add({ url: receiver.url });
  const [deleted] = await put('deleted before its retry');
  await polled('failed', async () => (await hooks())[0]?.failing_since !== null);
  t.match(await call('DELETE', `/sms/messages/${deleted}`), { status: 204 });
  t.same(await deliveries(hook.id), [], 'it is deleted with its text');
  clock.advance(4 * DAY_MS);
  await put('next');
  await polled('failed, too', async () => Number((await deliveries(hook.id))[0]?.attempts) > 0);
  t.match((await hooks())[0], { enabled: true, last_error: 'HTTP 502' });
  receiver.reply = take;
  await polled('delivered', () => receiver.texts().length === 1);
});

t.test('late answers of an old URL, or from before a webhook was enabled, do not count', async (t) => {
  const { add, call, deliveries, hooks, polled, put } = await clockedWebhooks(t, rig);
  const receiver = await startEventReceiver(t);
  const take = receiver.reply;
  const open: ServerResponse[] = [];
  receiver.reply = (event, response) =>
    event.path === '/new' ? take(event, response) : void open.push(response);
  const hook = await add({ url: `${receiver.url}/old` });
  const change = (changed: object) => call('PATCH', `/webhooks/${hook.id}`, changed);
  const healthy = { enabled: true, disabled_reason: null, failing_since: null, last_error: null };
  for (const status of [410, 500]) {
    const text = `answered ${status}`;
    await put(text);
    await polled('the request is open', () => open.length === 1);
    await change({ url: `${receiver.url}/new` });
    open.pop()?.writeHead(status).end();
    await polled('the new URL has it', () => receiver.texts('/new').includes(text));
    await polled('delivered', async () => (await deliveries(hook.id))[0]?.state === 'delivered');
    t.match((await hooks())[0], healthy);
    await change({ url: `${receiver.url}/old` });
  }
  await put('again');
  await polled('the request is open', () => open.length === 1);
  await change({ enabled: false });
  await change({ enabled: true });
  open.pop()?.writeHead(410).end();
  await polled('it is sent again', () => open.length === 1);
  t.match((await hooks())[0], healthy);
  open.pop()?.writeHead(410).end();
  await polled('this answer counts', async () => (await hooks())[0]?.enabled === false);
});

t.test('410 disables at once; replay of one delivery keeps its id', async (t) => {
  const { add, call, deliveries, hooks, polled, put } = await clockedWebhooks(t, rig);
  const receiver = await startEventReceiver(t);
  const take = receiver.reply;
  receiver.reply = (_event, response) => void response.writeHead(410).end();
  const hook = await add({ url: receiver.url });
  await put('once');
  await polled('disabled', async () => (await hooks())[0]?.enabled === false);
  t.match((await hooks())[0]?.disabled_reason, /410/);
  const [failed] = await deliveries(hook.id, '?state=failed');
  t.match(failed, { attempts: 1, status: 410, next_attempt_at: null });
  receiver.reply = take;
  await call('PATCH', `/webhooks/${hook.id}`, { enabled: true });
  t.match(await call('POST', `/webhooks/${hook.id}/replay`, { delivery_id: failed?.id }), {
    body: { queued: 1 },
  });
  await polled('taken', () => receiver.taken.length === 1);
  t.equal(receiver.taken[0]?.id, receiver.asked[0]?.id);
  t.equal(receiver.taken[0]?.text, receiver.asked[0]?.text, 'the same body');
  for (const [body, code] of [
    [{ delivery_id: 999_999 }, 'webhook_delivery_not_found'],
    [{}, 'invalid_request'],
    [{ delivery_id: failed?.id, since: '2026-01-01T00:00:00Z' }, 'invalid_request'],
    [{ since: 'yesterday' }, 'invalid_request'],
  ] as const)
    t.match(await call('POST', `/webhooks/${hook.id}/replay`, body), { body: { error: code } });
});

t.test('a replay sends events in the order in which they occurred', async (t) => {
  const { add, call, clock, db, deliveries, polled, put, recorded } = await clockedWebhooks(t, rig);
  const receiver = await startEventReceiver(t);
  const hook = await add({ url: receiver.url });
  const since = new Date(clock.now()).toISOString();
  await put('one');
  await recorded('taken', () => receiver.texts().length === 1);
  await call('PATCH', `/webhooks/${hook.id}`, { enabled: false });
  clock.advance(SECOND_MS);
  await put('two');
  await call('PATCH', `/webhooks/${hook.id}`, { enabled: true });
  clock.advance(SECOND_MS);
  await put('three');
  await recorded('taken', () => receiver.texts().length === 2);
  const all = { webhookId: hook.id, since: new Date(since), now: new Date(clock.now()) };
  t.equal(await replaySince(db, { ...all, max: 1 }), 1, 'the newest');
  t.equal((await deliveries(hook.id)).length, 2, 'a missed one beyond the newest is not queued');
  t.match((await call('POST', `/webhooks/${hook.id}/replay`, { since })).body, { queued: 3 });
  await polled('replayed', () => receiver.texts().includes('two'));
  await polled('replayed', () => receiver.texts().at(-1) === 'three');
  t.same(receiver.texts().slice(-3), ['one', 'two', 'three']);
});

t.test('after the end of the subscription nothing is sent; after its renewal what waited is', async (t) => {
  const { add, clock, db, pollEnds, polled, put, subscriptionId } = await clockedWebhooks(t, rig);
  const receiver = await startEventReceiver(t);
  await add({ url: receiver.url });
  clock.advance(370 * DAY_MS);
  await put('late');
  for (let round = 0; round < 5; round += 1) {
    clock.advance(2 * SECOND_MS);
    await pollEnds();
  }
  t.equal(receiver.asked.length, 0);
  await db
    .updateTable('subscriptions')
    .set({ expires_at: new Date(clock.now() + DAY_MS) })
    .where('id', '=', subscriptionId)
    .execute();
  await polled('sent', () => receiver.texts().length === 1);
});
