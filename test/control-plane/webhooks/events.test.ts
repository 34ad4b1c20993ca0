// The events of webhooks: texts, statuses and calls, signed, in order, as the API shows them.
import t from 'tap';
import { startEventReceiver } from '../../fixtures/agents/event-receiver.ts';
import { SLOT } from '../../fixtures/agents/subscriber.ts';
import { webhookSubscriber } from '../../fixtures/agents/webhook-subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('received texts: once, in order, as /sms/receive shows them, and still to be claimed', async (t) => {
  const { add, deliveries, get, hooks, receive } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  await receive('before');
  const hook = await add({ url: `${receiver.url}/in`, events: ['sms.received'] });
  receiver.secrets.push(hook.secret);
  t.match(hook.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.notOk(JSON.stringify(await hooks()).includes(hook.secret), 'the secret is shown once');
  const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
  await receive(...texts);
  await until('delivered', () => receiver.taken.length === 20);
  await until('recorded', async () => (await hooks())[0]?.waiting === 0);
  t.same(receiver.texts(), texts);
  t.equal(new Set(receiver.taken.map(({ id }) => id)).size, 20);
  const claimed = (await get('/sms/receive?limit=100')).body['messages'] as { body: string }[];
  t.same(
    receiver.taken.map(({ body }) => body.data),
    claimed.filter(({ body }) => body !== 'before'),
  );
  const listed = await deliveries(hook.id);
  t.equal(listed.length, 20);
  t.match(listed[0], { type: 'sms.received', state: 'delivered', attempts: 1, status: 204, error: null });
  t.match(await hooks(), [{ waiting: 0, failing_since: null, enabled: true }]);
});

t.test('with claim, a text that the receiver took is claimed; one that it refused is not', async (t) => {
  const { add, get, history, receive } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  const take = receiver.reply;
  receiver.reply = (event, response) =>
    event.body.type === 'sms.received' && event.body.data.body === 'no'
      ? void response.writeHead(500).end()
      : take(event, response);
  receiver.secrets.push((await add({ url: receiver.url, claim: true, events: ['sms.received'] })).secret);
  await receive('yes', 'no');
  await until('both were tried', () => receiver.asked.length === 2);
  await until('claimed', async () =>
    (await history()).find((row) => row.body === 'yes' && row.delivered_at !== null),
  );
  t.match(await get('/sms/receive'), { body: { count: 1, messages: [{ body: 'no' }] } });
});

t.test('statuses of a sent text, each with the status of its time', async (t) => {
  const { add, node, send, history } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  receiver.secrets.push((await add({ url: receiver.url, events: ['sms.status'] })).secret);
  const { body } = await send({ to: '+13105550188', body: 'hello' });
  const [command] = node.commands('send_sms');
  node.sendFact(1, {
    kind: 'sms_report',
    command_id: String(command?.id),
    iccid: String(SLOT.iccid),
    recipient: '+13105550188',
    status: 'delivered',
    message_reference: 7,
    tp_status: 0,
    part: 1,
    parts: 1,
    at: new Date().toISOString(),
  });
  await until('both statuses', () => receiver.taken.length === 2);
  t.match(
    receiver.taken.map((event) => event.body),
    [
      { type: 'sms.status', data: { status: 'queued', body: 'hello', to_number: '+13105550188' } },
      { type: 'sms.status', data: { status: 'delivered', message_id: body['message_id'] } },
    ],
  );
  t.match(await history(), [{ status: 'delivered' }]);
});

t.test('a text that no node took is reported as failed', async (t) => {
  const { add, node, send } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  receiver.secrets.push((await add({ url: receiver.url })).secret);
  node.drop();
  t.equal((await send({ to: '+13105550188', body: 'hello' })).status, 502);
  await until('reported', () => receiver.taken.length === 1);
  t.match(receiver.taken[0]?.body, { type: 'sms.status', data: { status: 'failed' } });
});

t.test('calls: ringing, answered, ended, as presence reports them', async (t) => {
  const { add, node, number } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  receiver.secrets.push((await add({ url: receiver.url })).secret);
  const startedAt = new Date(Date.now() - 3_000).toISOString();
  const answeredAt = new Date(Date.now() - 2_000).toISOString();
  const call = {
    call_id: 'call_webhook',
    iccid: String(SLOT.iccid),
    direction: 'inbound' as const,
    peer: '+13105550188',
    started_at: startedAt,
  };
  node.send({ type: 'call', call: { ...call, state: 'ringing', answered_at: null } });
  await until('ringing', () => receiver.taken.length === 1);
  node.send({ type: 'call', call: { ...call, state: 'active', answered_at: answeredAt } });
  await until('answered', () => receiver.taken.length === 2);
  node.sendFact(1, {
    kind: 'call_ended' as const,
    ...call,
    answered_at: answeredAt,
    ended_at: new Date().toISOString(),
    reason: 'remote_hangup' as const,
    cause: 16,
    audio: null,
  });
  await until('ended', () => receiver.taken.length === 3);
  const about = {
    call_id: 'call_webhook',
    direction: 'inbound',
    caller: '+13105550188',
    phone_number: number,
  };
  t.match(
    receiver.taken.map((event) => event.body),
    [
      { type: 'call.ringing', timestamp: startedAt, data: { ...about, kind: 'ringing', at: startedAt } },
      { type: 'call.answered', data: { ...about, kind: 'answered', at: answeredAt } },
      { type: 'call.ended', data: { ...about, kind: 'ended', cause: 16, reason: 'remote_hangup' } },
    ],
  );
});

t.test('rotation: both secrets sign for a day; the test event says what the receiver answered', async (t) => {
  const { add, call } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  const hook = await add({ url: receiver.url });
  const { body } = await call('POST', `/webhooks/${hook.id}/rotate`);
  const secrets = [hook.secret, String(body['secret'])];
  for (const secret of secrets) {
    receiver.secrets.splice(0, 1, secret);
    t.match(await call('POST', `/webhooks/${hook.id}/test`), {
      status: 200,
      body: { delivered: true, status: 204, error: null },
    });
  }
  t.equal(receiver.taken.length, 2, 'each of the secrets verifies it');
  receiver.reply = (_event, response) => void response.writeHead(302, { Location: '/elsewhere' }).end();
  t.match(await call('POST', `/webhooks/${hook.id}/test`), {
    body: { delivered: false, status: 302, error: 'HTTP 302: redirects are not followed' },
  });
  t.equal(receiver.asked.length, 3, 'the redirect was not followed');
});
