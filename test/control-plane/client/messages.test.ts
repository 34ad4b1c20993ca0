// Messages through the client library: sending, waiting, history over pages, and how refusals and failures look.
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

async function alice(t: Parameters<typeof subscriber>[0], options: Parameters<typeof subscriber>[2] = {}) {
  const rigged = await subscriber(t, rig, options);
  const token = rigged.headers.Authorization.replace('Bearer ', '');
  return { ...rigged, token, client: new SimrackClient({ baseUrl: `${rigged.url}/`, token }) };
}

t.test('a wait gets the message that fits, and what it passed over is not lost', async (t) => {
  const { client, node } = await alice(t);
  const waiting = client.waitForMessage({
    timeoutMs: 10_000,
    pollMs: 20,
    from: '+13105550199',
    match: ({ body }) => /\d{6}/.test(body),
  });
  node.sendFact(1, received('from another one'));
  node.sendFact(2, received('no digits', '+13105550199'));
  node.sendFact(3, received('Your code is 417209', '+13105550199'));
  t.match(await waiting, { body: 'Your code is 417209', from_number: '+13105550199' });
  const rest = await client.receive();
  t.same(
    rest.messages.map(({ body }) => body),
    ['from another one', 'no digits'],
  );
  t.equal(rest.count, 2);
  t.match(await client.receive(), { messages: [], count: 0 });
});

t.test('a service that passes on the sign-in of another one gets no signature', async (t) => {
  const { url } = await rig.start(t, { serviceDomain: 'sim.example' });
  const { fetch } = globalThis;
  const signed: string[] = [];
  globalThis.fetch = (target, options) =>
    fetch(String(target).replace('https://false.example', url), options);
  t.teardown(() => {
    globalThis.fetch = fetch;
  });
  const wallet = privateKeyToAccount(ALICE.privateKey);
  const account = {
    ...wallet,
    signMessage: ({ message }: { message: string }) => {
      signed.push(message);
      return wallet.signMessage({ message });
    },
  };
  const clientOf = (baseUrl: string, domain?: string) => new SimrackClient({ baseUrl, domain });
  await t.rejects(clientOf('https://false.example').recover({ account }), {
    code: 'invalid_answer',
    message: /asks the wallet to sign in to sim\.example/,
  });
  await t.rejects(clientOf(url, 'another.example').recover({ account }), { code: 'invalid_answer' });
  t.same(signed, []);
  const named = clientOf('https://false.example', 'sim.example').recover({ account });
  await t.rejects(named, { code: 'no_active_subscription' });
  await t.rejects(clientOf(url).recover({ account }), { code: 'no_active_subscription' });
  t.equal(signed.length, 2);
});

/** Paths of the requests that this program makes from now on. */
function recordedPaths(t: Parameters<typeof subscriber>[0]): string[] {
  const paths: string[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = (...given) => {
    paths.push(new URL(String(given[0])).pathname);
    return fetch(...given);
  };
  t.teardown(() => {
    globalThis.fetch = fetch;
  });
  return paths;
}

t.test('a wait at the service is one request until a text is there', async (t) => {
  const { client, node, url } = await alice(t);
  const paths = recordedPaths(t);
  const controller = new AbortController();
  const aborted = client.waitForMessage({ signal: controller.signal });
  await until('it waits', () => paths.length === 1);
  controller.abort();
  await t.rejects(aborted, { name: 'AbortError' });
  const waiting = client.waitForMessage({ pollMs: 1 });
  await until('it waits again', () => paths.length === 2);
  node.sendFact(1, received('one'));
  t.match(await waiting, { body: 'one', code: null, kind: 'text' }, 'the wait that was aborted took nothing');
  t.same(paths, ['/mcp', '/mcp']);
  node.sendFact(2, received('two'));
  t.match(await client.waitForMessage(), { body: 'two' });
  t.same(await client.held(), []);
  await t.rejects(new SimrackClient({ baseUrl: url, token: 'wrong' }).waitForMessage(), {
    status: 401,
    code: 'unauthorized',
  });
});

t.test('more waits than a token may have: a refusal of the tool is retried', async (t) => {
  const { client, node, service, token, url } = await alice(t, {
    service: { waitsPerToken: 1, metricsPort: 0 },
  });
  const troubles: string[] = [];
  const options = { pollMs: 50, onTrouble: ({ code }: { code: string }) => troubles.push(code) };
  const first = client.waitForMessage({ pollMs: 50, from: '+13105550199' });
  const other = new SimrackClient({ baseUrl: url, token });
  await until('the first one has the place', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
    return /^simrack_sms_waits 1$/m.test(metrics);
  });
  const second = other.waitForMessage(options);
  await until('the second one is refused', () => troubles.includes('rate_limited'));
  node.sendFact(1, received('for the first', '+13105550199'));
  t.match(await first, { body: 'for the first' });
  node.sendFact(2, received('for the second'));
  t.match(await second, { body: 'for the second' });
});

t.test('a wait ends with its time, or when its caller gives up', async (t) => {
  const { client } = await alice(t);
  await t.rejects(client.waitForMessage({ timeoutMs: 50, pollMs: 20 }), { status: 0, code: 'timeout' });
  const controller = new AbortController();
  const waiting = client.waitForMessage({ timeoutMs: 60_000, pollMs: 20, signal: controller.signal });
  controller.abort();
  await t.rejects(waiting, { name: 'AbortError' });
});

t.test('the history comes over pages, newest first, and filters pass through', async (t) => {
  const { client, node, number } = await alice(t);
  for (let index = 1; index <= 7; index += 1) node.sendFact(index, received(`text ${index}`));
  await until('all are stored', () => node.acknowledged === 7);
  const since = new Date(Date.now() - 3_600_000);
  const bodies: string[] = [];
  for await (const { body } of client.history({ limit: 3, direction: 'received', since })) bodies.push(body);
  t.same(
    bodies,
    [7, 6, 5, 4, 3, 2, 1].map((index) => `text ${index}`),
  );
  for await (const { body } of client.history({ until: since })) t.fail(body);
  t.match(await client.send({ to: '+13105550188', body: 'hello' }), { status: 'queued', message_id: String });
  for await (const message of client.history({ direction: 'sent' }))
    t.match(message, { body: 'hello', from_number: number });
});

t.test('messages are deleted, one, some and all', async (t) => {
  const { client, node } = await alice(t);
  for (let index = 1; index <= 4; index += 1) node.sendFact(index, received(`text ${index}`));
  await until('all are stored', () => node.acknowledged === 4);
  const [newest] = (await client.messages()).messages;
  t.equal(await client.deleteMessage(Number(newest?.id)), undefined);
  await t.rejects(client.deleteMessage(Number(newest?.id)), { status: 404, code: 'message_not_found' });
  t.equal(await client.deleteMessages({ until: new Date(Date.now() - 3_600_000) }), 0);
  t.equal((await client.receive()).count, 3);
  t.equal(await client.deleteMessages({ direction: 'received' }), 3);
  t.same((await client.messages()).messages, []);
});

t.test('refusals have status, code, details and the time to wait', async (t) => {
  const { client, url } = await alice(t);
  await t.rejects(client.send({ to: '911', body: 'x' }), {
    name: 'ApiError',
    status: 400,
    code: 'destination_not_allowed',
    message: String,
  });
  await t.rejects(client.send({ to: '+13105550188', body: '' }), {
    status: 400,
    code: 'invalid_request',
    details: { field: 'body', request_id: String },
  });
  await t.rejects(client.messages({ cursor: 'nonsense' }), { name: 'ApiError', status: 400 });
  await t.rejects(client.hangUp({ call_id: 'none' }), {
    code: 'call_not_found',
    details: { call_id: 'none' },
  });
  await t.rejects(new SimrackClient({ baseUrl: url }).number(), { status: 401, code: 'unauthorized' });
  const limited = await rig.start(t, { noncesPerMinute: 1 });
  const stranger = new SimrackClient({ baseUrl: limited.url });
  const account = privateKeyToAccount(ALICE.privateKey);
  await t.rejects(stranger.recover({ account }), { status: 402, code: 'no_active_subscription' });
  await t.rejects(stranger.recover({ account }), {
    status: 429,
    code: 'rate_limited',
    retryAfterSeconds: Number,
  });
});

t.test('a recovery gives a new token and ends the old one', async (t) => {
  const { client, token, url, number } = await alice(t);
  const recovered = await client.recover({ account: privateKeyToAccount(ALICE.privateKey) });
  t.equal(client.token, recovered.token);
  t.match(await client.number(), { number });
  await t.rejects(new SimrackClient({ baseUrl: url, token }).number(), { name: 'ApiError', status: 401 });
});

t.test('no server and another server are errors of the same kind', async (t) => {
  const noServer = new SimrackClient({ baseUrl: 'http://127.0.0.1:9' });
  await t.rejects(noServer.availability(), { name: 'ApiError', status: 0, code: 'unreachable' });
  const { url } = await rig.start(t);
  await t.rejects(new SimrackClient({ baseUrl: `${url}/nowhere` }).availability(), {
    status: 404,
    code: 'not_found',
  });
  const chain = new SimrackClient({ baseUrl: rig.chain.rpcUrl });
  await t.rejects(chain.availability(), { name: 'ApiError' });
  t.match(await new SimrackClient({ baseUrl: url }).catalog(), { name: 'Simrack', status: 'ok' });
  t.match(await new SimrackClient({ baseUrl: url }).demo(), { demo: true });
});
