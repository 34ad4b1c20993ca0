// /sms/receive: facts of a node become messages, claimed once.
import t from 'tap';
import type { Fact } from '#shared/link/messages.ts';
import { type Row, received, subscriber, texts } from '../../fixtures/agents/subscriber.ts';
import { linkNode } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('a received SMS is claimed once and stays in the history', async (t) => {
  const { node, get, number } = await subscriber(t, rig);
  await node.report(received('hello 👋 @£'));
  const first = await get('/sms/receive');
  t.match(first, {
    status: 200,
    body: {
      count: 1,
      messages: [
        {
          id: Number,
          from_number: '+13105550188',
          to_number: number,
          body: 'hello 👋 @£',
          received_at: String,
        },
      ],
    },
  });
  t.same((await get('/sms/receive')).body, { messages: [], count: 0 });
  t.match((await get('/sms/messages')).body, {
    messages: [{ direction: 'received', status: null, body: 'hello 👋 @£', delivered_at: String }],
    next_cursor: null,
  });
});

t.test('a fact that comes again, on this link or the next, is one message', async (t) => {
  const { url, node, history } = await subscriber(t, rig);
  node.sendFact(1, received('one'));
  node.sendFact(1, received('one'));
  node.sendFact(2, received('one'));
  await until('committed', () => node.acknowledged === 2);
  await node.drop();
  const again = await linkNode(t, url, { journalId: 'journal-1', oldestSequence: 1 });
  t.match(again.frames[0], { type: 'welcome', acknowledged: 2 });
  await again.report(received('one'), received('one'), received('two'));
  t.same(
    (await history()).map(({ body }) => body),
    ['two', 'one', 'one'],
  );
});

t.test('a node with a new journal starts at 1 again and loses nothing', async (t) => {
  const { url, node, history } = await subscriber(t, rig);
  await node.report(received('old journal'));
  await node.drop();
  const fresh = await linkNode(t, url, { journalId: 'journal-2' });
  await fresh.report(received('new journal'));
  t.equal((await history()).length, 2);
});

t.test('parallel claims never get a row twice, and get all', async (t) => {
  const { node, get } = await subscriber(t, rig);
  const total = 200;
  await node.report(...texts(total));
  const claimed: number[] = [];
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (;;) {
        const { body } = await get('/sms/receive?limit=7');
        if (body['count'] === 0) return;
        const rows = body['messages'] as Row[];
        t.same(
          rows.map(({ id }) => id),
          rows.map(({ id }) => id).sort((a, b) => a - b),
          'oldest first',
        );
        claimed.push(...rows.map(({ id }) => id));
      }
    }),
  );
  t.equal(claimed.length, total);
  t.equal(new Set(claimed).size, total);
});

t.test('an SMS for a SIM without a subscription is accepted and shown to no client', async (t) => {
  const { node, get } = await subscriber(t, rig);
  await node.report({ ...received('stray'), iccid: '89010000000000009999' } as Fact);
  t.equal((await get('/sms/receive')).body['count'], 0);
});

t.test('NUL in a received text does not stop the link', async (t) => {
  const { node, history } = await subscriber(t, rig);
  await node.report(received('a\u0000b'));
  t.equal((await history())[0]?.body, 'a\ufffdb');
});

t.test('HEAD claims nothing', async (t) => {
  const { url, node, get, headers } = await subscriber(t, rig);
  await node.report(received('x'));
  t.equal((await fetch(`${url}/sms/receive`, { method: 'HEAD', headers })).status, 405);
  t.equal((await get('/sms/receive')).body['count'], 1);
});
