// Webhooks through the client library and the command line.
import t from 'tap';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { startEventReceiver } from '../../fixtures/agents/event-receiver.ts';
import { webhookSubscriber } from '../../fixtures/agents/webhook-subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

async function setUp(t: Parameters<typeof webhookSubscriber>[0]) {
  const alice = await webhookSubscriber(t, rig);
  const token = alice.headers.Authorization.replace('Bearer ', '');
  return { ...alice, token, receiver: await startEventReceiver(t) };
}

t.test('the library: add, list, change, rotate, test, deliveries, replay, remove', async (t) => {
  const { receive, receiver, token, url } = await setUp(t);
  const { webhooks } = new SimrackClient({ baseUrl: url, token });
  const { id, secret } = await webhooks.add({ url: receiver.url, events: ['sms.received'] });
  receiver.secrets.push(secret);
  await receive('first', 'second');
  await until('taken', () => receiver.taken.length === 2);
  t.match(await webhooks.list(), [{ id, claim: false, events: ['sms.received'] }]);
  t.match(await webhooks.change(id, { claim: true, description: 'mine' }), {
    claim: true,
    description: 'mine',
  });
  t.match(await webhooks.test(id), { delivered: true });
  const deliveries = [];
  for await (const delivery of webhooks.deliveries(id, { limit: 1 })) deliveries.push(delivery);
  t.match(deliveries, [{ state: 'delivered' }, { state: 'delivered' }]);
  const states = async () => {
    const found = [];
    for await (const { state } of webhooks.deliveries(id)) found.push(state);
    return found;
  };
  t.equal(await webhooks.replay(id, { delivery_id: Number(deliveries[0]?.id) }), 1);
  t.equal(await webhooks.replay(id, { since: new Date(Date.now() - 60_000) }), 2);
  await until('again', () => receiver.taken.length >= 5);
  // Signed with the present secret.
  await until('all are done', async () => (await states()).every((state) => state === 'delivered'));
  t.equal(new Set(receiver.taken.map((event) => event.id)).size, 3, 'two events and a test');
  receiver.secrets[0] = (await webhooks.rotate(id)).secret;
  t.match(await webhooks.test(id), { delivered: true });
  await webhooks.remove(id);
  t.same(await webhooks.list(), []);
  await t.rejects(webhooks.remove(id), { status: 404, code: 'webhook_not_found' });
  await t.rejects(webhooks.add({ url: 'ftp://example.org/' }), { code: 'webhook_url_not_allowed' });
});

t.test('the command line', async (t) => {
  const { receive, receiver, token, url } = await setUp(t);
  const { simrack, start } = commandLine(t, url, { token });
  const added = (
    await simrack('webhook', 'add', receiver.url, '--event', 'sms.received', 'call.ended')
  ).json() as {
    id: string;
    secret: string;
  };
  receiver.secrets.push(added.secret);
  const misspelled = await simrack('webhook', 'add', receiver.url, '--event', 'sms.recieved');
  t.equal(misspelled.status, 2);
  t.match(misspelled.stderr, /Did you mean sms\.received\?/);
  t.match((await simrack('webhook', 'list')).json(), {
    count: 1,
    webhooks: [{ events: ['sms.received', 'call.ended'] }],
  });
  t.match((await simrack('webhook', 'test', added.id)).json(), { delivered: true, status: 204 });
  await receive('text');
  await until('taken', () => receiver.texts().length === 1);
  t.match((await simrack('webhook', 'change', added.id, '--disable')).json(), { enabled: false });
  t.match((await simrack('webhook', 'change', added.id, '--enable', '--claim')).json(), {
    enabled: true,
    claim: true,
  });
  const listed = (await simrack('webhook', 'deliveries', added.id, '--print', 'id')).stdout.trim();
  t.same((await simrack('webhook', 'replay', added.id, '--delivery', listed)).json(), { queued: 1 });
  await until('again', () => receiver.texts().length === 2);
  receiver.reply = (_event, response) => void response.writeHead(500).end();
  t.match(await start(['webhook', 'test', added.id]), { status: 3, stderr: /not_delivered: .*HTTP 500/ });
  t.match(await simrack('webhook', 'replay', added.id), {
    status: 2,
    stderr: /name one of --delivery and --since/,
  });
  t.match(await simrack('webhook', 'change', added.id), { status: 2 });
  t.same((await simrack('webhook', 'remove', added.id)).json(), { removed: added.id });
  t.match(await simrack('webhook', 'remove', added.id, '--json'), { status: 1, stderr: /webhook_not_found/ });
});
