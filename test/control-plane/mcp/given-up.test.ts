// Calls of tools that their client gives up by a message, as the official clients do it, and answers that never come.
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import {
  HANDSHAKES,
  olderToolClient,
  olderToolRequest,
  STATELESS,
  type ToolClient,
  toolClient,
} from '../../fixtures/agents/tool-client.ts';
import {
  idle,
  isWaiting,
  type WaitingSubscriber,
  waitingSubscriber,
} from '../../fixtures/agents/waiting-subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const shared = await waitingSubscriber(t, rig, { requestsPerMinute: 10_000, tokenRequestsPerMinute: 10_000 });

const CLIENTS: Record<string, (t: Test, alice: WaitingSubscriber) => Promise<ToolClient>> = {
  'the first line': (t, { headers, url }) => olderToolClient(t, url, { ...headers }),
  ...Object.fromEntries(
    [STATELESS, ...HANDSHAKES].map((revision) => [
      revision,
      (t: Test, { headers, url }: WaitingSubscriber) => toolClient(t, url, { headers, revision }),
    ]),
  ),
};

for (const [name, connect] of Object.entries(CLIENTS)) {
  for (const [how, options] of [
    ['its signal', (signal: AbortSignal) => ({ signal })],
    ['its time-out', () => ({ timeout: 2_000 })],
  ] as const) {
    t.test(`${name}: a wait that ${how} has ended claims nothing, and is over`, async (t) => {
      const alice = await idle(shared);
      const client = await connect(t, alice);
      const controller = new AbortController();
      const call = client.call('receive_sms', { wait_seconds: 50 }, options(controller.signal));
      call.catch(() => undefined);
      await isWaiting(alice);
      controller.abort();
      await t.rejects(call);
      await until('no wait is left', () => alice.waits() === 0);
      await alice.deliver('hello');
      t.same(await alice.bodies(), ['hello']);
    });
  }
}

/** A service remembers which calls of a session were given up. */
const newSession = () => ({ 'Mcp-Session-Id': randomUUID() });
const post = (url: string, init: { headers: Record<string, string>; body: string }) =>
  fetch(`${url}/mcp`, { ...init, method: 'POST' });
const waiting = (headers: Record<string, string>) =>
  olderToolRequest('tools/call', { name: 'receive_sms', arguments: { wait_seconds: 50 } }, headers);
const cancelling = (headers: Record<string, string>, requestId: unknown = 1) => ({
  ...olderToolRequest('', {}, headers),
  body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
});

t.test(
  'another instance may get the cancellation, and a message in a cancelled answer is given back',
  async (t) => {
    const alice = await idle(shared);
    const elsewhere = await rig.start(t, { databaseUrl: alice.databaseUrl });
    const headers = { ...alice.headers, ...newSession() };
    const late = { ...alice.headers, ...newSession() };
    const call = post(alice.url, waiting(headers));
    await isWaiting(alice);
    t.equal((await post(elsewhere.url, cancelling(headers))).status, 202);
    await until('no wait is left', () => alice.waits() === 0);
    await (await call).text();

    await alice.deliver('hello');
    const answered = await (await post(alice.url, waiting(late))).text();
    t.match(answered, 'hello');
    t.same(await alice.bodies(), []);
    await post(alice.url, cancelling(late));
    t.same(
      await until('it is given back', async () => {
        const bodies = await alice.bodies();
        return bodies.length > 0 && bodies;
      }),
      ['hello'],
    );
  },
);

t.test('no client ends a call of another session, token or id', async (t) => {
  const alice = await idle(shared);
  const session = newSession();
  const headers = { ...alice.headers, ...session };
  const call = post(alice.url, waiting(headers));
  await isWaiting(alice);
  for (const init of [
    cancelling({ ...headers, 'Mcp-Session-Id': 'another' }),
    cancelling({ ...alice.headers }),
    cancelling({ ...session, Authorization: 'Bearer simrack_x' }),
    ...[2, '1', null, [1], {}].map((id) => cancelling(headers, id)),
  ])
    t.ok((await post(alice.url, init)).status < 500);
  t.equal(alice.waits(), 1);
  await alice.deliver('hello');
  t.match(await (await call).text(), 'hello');
});

t.test('an answer that never comes ends its connection', async (t) => {
  const alice = await idle(shared);
  const lists = { jsonrpc: '2.0', id: 5, method: 'tools/list' };
  const gives = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } };
  const call = { ...lists, method: 'tools/call', params: { name: 'check_availability', arguments: {} } };
  const init = { ...olderToolRequest(''), body: JSON.stringify([call, gives]) };
  const answer = post(alice.url, init).then((response) => response.text());
  answer.catch(() => undefined);
  await until('it is under way', () => alice.clock.dueIn(120_000) === 1);
  const over = answer.then(
    () => 'answered',
    () => 'cut off',
  );
  alice.clock.advance(120_000);
  t.equal(await over, 'cut off');
});

t.test(
  'each message of a batch counts, and there are not many',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const { url } = await rig.start(t, { requestsPerMinute: 20 });
    const batch = (length: number) => ({
      ...olderToolRequest(''),
      body: JSON.stringify(Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))),
    });
    t.equal((await post(url, batch(17))).status, 400);
    t.equal((await post(url, batch(16))).status, 200);
    t.equal((await post(url, batch(16))).status, 429);
  },
);
