// Holders and receivers who mean harm: bounds, other people's ids, secrets, deletion.
import { request } from 'node:http';
import { sql } from 'kysely';
import t from 'tap';
import { ALICE, BOB } from '../../dev-stack/wallets.ts';
import { isVerified, startEventReceiver } from '../../fixtures/agents/event-receiver.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { received, SLOT } from '../../fixtures/agents/subscriber.ts';
import { webhookCalls, webhookSubscriber } from '../../fixtures/agents/webhook-subscriber.ts';
import { dump } from '../../fixtures/database/database-dump.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { clockedWebhooks } from '../../fixtures/service/clocked-webhooks.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { startServiceProcess } from '../../fixtures/service/service-process.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('a holder that registers many webhooks at once has five', async (t) => {
  const { call, hooks } = await webhookSubscriber(t, rig);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => call('POST', '/webhooks', { url: 'https://example.org/' })),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 5);
  for (const { body, status } of answers)
    if (status !== 200) t.match({ body, status }, { status: 409, body: { error: 'webhook_limit_reached' } });
  t.equal((await hooks()).length, 5);
});

t.test('another holder: 404 for everything, and no event', async (t) => {
  const alice = await webhookSubscriber(t, rig, { slots: [SLOT, slotAt(2)] });
  const receiver = await startEventReceiver(t);
  const { id } = await alice.add({ url: receiver.url });
  const bob = webhookCalls(
    alice.url,
    (await subscribeInStore(alice.databaseUrl, BOB, String(slotAt(2).number))).headers,
  );
  const stranger = webhookCalls(alice.url, {});
  const requests = [
    ['PATCH', `/webhooks/${id}`, { url: 'https://example.org/' }],
    ['DELETE', `/webhooks/${id}`],
    ['POST', `/webhooks/${id}/rotate`],
    ['POST', `/webhooks/${id}/test`],
    ['GET', `/webhooks/${id}/deliveries`],
    ['POST', `/webhooks/${id}/replay`, { since: '2026-01-01T00:00:00Z' }],
  ] as const;
  for (const [method, path, body] of requests) {
    t.match(await bob.call(method, path, body), { status: 404, body: { error: 'webhook_not_found' } });
    t.match(await stranger.call(method, path, body), { status: 401 });
  }
  t.same(await bob.hooks(), []);
  await bob.add({ url: `${receiver.url}/bob` });
  await alice.receive('for Alice');
  await until('taken', () => receiver.taken.length === 1);
  t.same(receiver.texts('/bob'), []);
  t.match(await alice.hooks(), [{ id, enabled: true }]);
});

t.test('a receiver that answers a byte a second, or without end, or not at all', async (t) => {
  const { add, deliveries, receive } = await webhookSubscriber(t, rig, {
    service: { webhookTimeoutMs: 1_500 },
  });
  const receiver = await startEventReceiver(t);
  let sent = 0;
  receiver.reply = (event, response) => {
    if (event.path === '/head') {
      // The status line, octet by octet.
      const socket = response.socket;
      const timer = setInterval(() => socket?.write('H'), 500);
      socket?.once('close', () => clearInterval(timer));
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/plain' });
    const chunk = Buffer.alloc(event.path === '/slow' ? 1 : 1024 * 1024, 'x');
    const timer = setInterval(() => {
      sent += chunk.length;
      response.write(chunk);
    }, 5);
    response.once('close', () => clearInterval(timer));
  };
  const hooks = [];
  for (const path of ['/slow', '/endless', '/head']) hooks.push(await add({ url: receiver.url + path }));
  await receive('text');
  const [slow, endless, head] = hooks;
  for (const hook of [slow, endless])
    await until('delivered', async () => (await deliveries(String(hook?.id)))[0]?.state === 'delivered');
  await until('timed out', async () => Number((await deliveries(String(head?.id)))[0]?.attempts) > 0);
  t.match((await deliveries(String(head?.id)))[0], { state: 'waiting', status: null });
  t.ok(sent < 256 * 1024 * 1024, 'the connection was closed');
});

t.test(
  'a holder that lets the service flood a receiver: replays and tests have a budget, live events do not',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const { add, call, clock, deliveries, polled, put, recorded } = await clockedWebhooks(t, rig);
    const receiver = await startEventReceiver(t);
    const { id } = await add({ url: receiver.url, events: ['sms.received'] });
    const texts = Array.from({ length: 300 }, (_, index) => `text ${index}`);
    await put(...texts);
    await recorded('live events', () => receiver.taken.length === 300);
    const since = new Date(clock.now() - 86_400_000).toISOString();
    const replay = (body: object = { since }) => call('POST', `/webhooks/${id}/replay`, body);
    t.match(await call('POST', `/webhooks/${id}/test`), { status: 200, body: { delivered: true } });
    const [last] = await deliveries(id);
    t.match(await replay({ delivery_id: last?.id }), { status: 200, body: { queued: 1 } });
    t.match(await replay({ delivery_id: 987_654_321 }), { status: 404 }, 'which costs nothing');
    const answers = await Promise.all(Array.from({ length: 65 }, () => replay()));
    const queued = answers.filter(({ status }) => status === 200).map(({ body }) => Number(body['queued']));
    t.same(queued.sort(), [300, 300, 300, 98], 'as many as are left, then none');
    for (const { body, headers, status } of answers)
      if (status !== 200) {
        t.match(
          { status, body },
          { status: 429, body: { error: 'rate_limited', message: /1000 replays and tests/ } },
        );
        t.ok(Number(headers['retry-after']) > 3_000 && Number(headers['retry-after']) <= 3_900);
      }
    t.equal(answers.filter(({ status }) => status === 429).length, 61);
    t.match(await call('POST', `/webhooks/${id}/test`), { status: 429, body: { error: 'rate_limited' } });
    await put('live');
    await polled('a live event', () => receiver.texts().includes('live'));
    t.ok(receiver.asked.length <= 300 + 1_000 + 1, `${receiver.asked.length} requests`);
    clock.advance(3_900_000);
    t.match(await call('POST', `/webhooks/${id}/test`), { status: 200 }, 'an hour later');
  },
);

t.test('a holder that tests a receiver that hangs: two tests at a time', async (t) => {
  const { add, call } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  const take = receiver.reply;
  const held: Array<() => void> = [];
  receiver.reply = (event, response) => void held.push(() => void take(event, response));
  const { id } = await add({ url: receiver.url });
  const test = () => call('POST', `/webhooks/${id}/test`);
  const tests = [test(), test()];
  await until('two are open', () => held.length === 2);
  t.match(await test(), { status: 429, body: { error: 'rate_limited', message: /other tests/ } });
  for (const release of held) release();
  for (const answer of await Promise.all(tests)) t.match(answer, { status: 200, body: { delivered: true } });
});

t.test('a replay by an outsider, and a changed body, are not verified', async (t) => {
  const { add, receive } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  const { secret } = await add({ url: receiver.url });
  await receive('text');
  const event = await until('taken', () => receiver.taken[0]);
  t.ok(isVerified(secret, event.text, event.headers));
  const old = String(Number(event.headers['webhook-timestamp']) - 600);
  t.notOk(
    isVerified(secret, event.text, { ...event.headers, 'webhook-timestamp': old }),
    'the time is signed',
  );
  t.notOk(isVerified(secret, event.text, { ...event.headers, 'webhook-id': 'other' }), 'the id is signed');
  t.notOk(isVerified(secret, `${event.text} `, event.headers));
  t.match(event.headers, { 'content-type': 'application/json', 'user-agent': 'simrack-webhooks' });
  t.notOk('authorization' in event.headers);
});

t.test('a deleted text is not sent, and nothing of it is left; neither is a deleted webhook', async (t) => {
  const { add, call, db, pollEnds, put, deliveries, clock, recorded } = await clockedWebhooks(t, rig);
  const receiver = await startEventReceiver(t);
  receiver.reply = (_event, response) => void response.writeHead(500).end();
  const hook = await add({ url: receiver.url });
  const [id] = await put('the code is 271828');
  await put('stays');
  await recorded('both tried', () => receiver.asked.length >= 2);
  t.equal((await call('DELETE', `/sms/messages/${id}`)).status, 204);
  t.equal((await deliveries(hook.id)).length, 1);
  const left = [...(await dump(db))].flatMap(([name, rows]) => (rows.includes('271828') ? [name] : []));
  t.same(left, []);
  receiver.asked.length = 0;
  await recorded('tried again', () => receiver.asked.length > 0);
  t.notOk(receiver.asked.some(({ text }) => text.includes('271828')));
  await call('DELETE', '/sms/messages');
  t.same(await deliveries(hook.id), []);
  await put('another');
  t.equal((await call('DELETE', `/webhooks/${hook.id}`)).status, 204);
  receiver.asked.length = 0;
  clock.advance(600_000);
  await pollEnds();
  t.equal(receiver.asked.length, 0);
  const { rows } = await sql`select from webhook_deliveries`.execute(db);
  t.equal(rows.length, 0);
});

t.test('deletions of messages and of webhooks during a flood: no refusal, no text lost', async (t) => {
  const { add, call, receive, history } = await webhookSubscriber(t, rig);
  const receiver = await startEventReceiver(t);
  const flood = receive(...Array.from({ length: 200 }, (_, index) => `text ${index}`));
  for (let round = 0; round < 15; round += 1) {
    const hook = await add({ url: receiver.url, claim: true });
    await call('POST', `/webhooks/${hook.id}/test`);
    t.equal((await call('DELETE', `/webhooks/${hook.id}`)).status, 204);
  }
  await flood;
  t.equal((await history('?limit=100')).length, 100);
  const hook = await add({ url: receiver.url, claim: true });
  await call('POST', `/webhooks/${hook.id}/replay`, { since: new Date(Date.now() - 600_000).toISOString() });
  const statuses = await Promise.all(Array.from({ length: 5 }, () => call('DELETE', '/sms/messages')));
  t.same(
    statuses.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
});

t.test(
  'a receiver that answers after its webhook was deleted, or has another URL, claims nothing',
  async (t) => {
    const { add, call, receive, get } = await webhookSubscriber(t, rig);
    const receiver = await startEventReceiver(t);
    const held: Array<() => void> = [];
    const take = receiver.reply;
    receiver.reply = (_event, response) => void held.push(() => response.writeHead(204).end());
    const claimable = async () =>
      ((await get('/sms/receive?limit=100')).body['messages'] as { body: string }[]).map(({ body }) => body);
    const thief = await add({ url: `${receiver.url}/thief`, claim: true, events: ['sms.received'] });
    await receive('one');
    await until('it is asked', () => held.length === 1);
    t.equal((await call('DELETE', `/webhooks/${thief.id}`)).status, 204);
    held[0]?.();

    const moved = await add({ url: `${receiver.url}/old`, claim: true, events: ['sms.received'] });
    await receive('two');
    await until('it is asked, too', () => held.length === 2);
    receiver.reply = take;
    await call('PATCH', `/webhooks/${moved.id}`, { url: `${receiver.url}/new`, claim: false });
    held[1]?.();
    await until('the new one has it', () => receiver.texts('/new').includes('two'), 60_000);
    t.same((await claimable()).sort(), ['one', 'two']);
  },
);

t.test('no secret and no text in the log at its finest level, nor in the metrics', async (t) => {
  const databaseUrl = await rig.postgres.createMigrated();
  const env = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  const service = await startServiceProcess(t, { databaseUrl, rpcUrl: rig.chain.rpcUrl, env });
  const node = await linkNode(t, service.url, { journalId: 'journal-1' });
  const { headers } = await subscribeInStore(databaseUrl, ALICE, String(SLOT.number));
  const { add, call } = webhookCalls(service.url, headers);
  const receiver = await startEventReceiver(t);
  const good = await add({ url: `${receiver.url}/path-271828` });
  await add({ url: 'http://127.0.0.1:1/path-271828' });
  const rotated = await call('POST', `/webhooks/${good.id}/rotate`);
  node.sendFact(1, received('the code is 314159'));
  await until('taken', () => receiver.taken.length === 1);
  // The receiver has it before the service knows.
  await until('counted', async () => {
    const page = await service.scrape();
    return ['delivered', 'unreachable'].every((outcome) =>
      new RegExp(`webhook_attempts_total\\{outcome="${outcome}"\\} [1-9]`).test(page),
    );
  });
  const written = `${service.log()}${await service.scrape()}`;
  for (const secret of [good.secret, String(rotated.body['secret']), 'whsec_', '314159', '271828'])
    t.notOk(written.includes(secret), secret);
  t.match(written, /webhook_attempts_total\{outcome="delivered"\} 1/);
});

t.test('a request that is not for this API: PATCH elsewhere, and a preflight', async (t) => {
  const { url } = await webhookSubscriber(t, rig);
  const answer = await new Promise<Record<string, unknown>>((resolve) => {
    request(
      `${url}/webhooks/wh_1`,
      {
        method: 'OPTIONS',
        headers: { Origin: 'https://page.example', 'Access-Control-Request-Method': 'PATCH' },
      },
      (response) => resolve(response.headers),
    ).end();
  });
  t.match(answer, { 'access-control-allow-methods': /PATCH/ });
  t.equal((await fetch(`${url}/sms/send`, { method: 'PATCH' })).status, 405);
});
