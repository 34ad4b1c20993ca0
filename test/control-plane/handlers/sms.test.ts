// /sms/send, /sms/receive and /sms/messages, through HTTP on a real Postgres, with a node made of frames.
import t, { type Test } from 'tap';
import { openDatabase } from '#control-plane/store/database.ts';
import type { Fact } from '#shared/link/messages.ts';
import { BUYERS, type Wallet } from '../../dev-stack/wallets.ts';
import { createRig } from '../../fixtures/rig.ts';
import { acceptAll, ScriptedNode, type ScriptedNodeOptions, slotAt } from '../../fixtures/scripted-node.ts';
import { subscribeInStore } from '../../fixtures/subscribed.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const [ALICE] = BUYERS as [Wallet];
const SLOT = slotAt(1);

interface Row {
  id: number;
  body: string;
  status: string | null;
  message_id: string | null;
  delivered_at: string | null;
  direction: string;
  created_at: string;
}

async function setup(t: Test, options: ScriptedNodeOptions & { sendTimeoutMs?: number } = {}) {
  const { sendTimeoutMs, ...nodeOptions } = options;
  const { url, databaseUrl } = await rig.start(t, sendTimeoutMs === undefined ? {} : { sendTimeoutMs });
  const node = await rig.connect(t, url, { journalId: 'journal-1', ...nodeOptions });
  const { headers, number } = await subscribeInStore(databaseUrl, ALICE, String(SLOT.number));
  const get = async (path: string) => {
    const response = await fetch(url + path, { headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const send = async (body: unknown) => {
    const response = await fetch(`${url}/sms/send`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const history = async (query = '') => (await get(`/sms/messages${query}`)).body['messages'] as Row[];
  return { url, databaseUrl, node, get, send, history, number, headers };
}

/** The node again, when all its numbers are sold. */
async function relink(t: Test, url: string, options: ScriptedNodeOptions): Promise<ScriptedNode> {
  const node = await ScriptedNode.connect(url, options);
  t.teardown(() => node.drop());
  return node;
}

const received = (body: string, from = '+13105550188'): Fact => ({
  kind: 'sms_received',
  iccid: String(SLOT.iccid),
  from,
  body,
  sent_at: '2026-11-21T10:00:00-08:00',
  received_at: new Date().toISOString(),
  partial: false,
});

t.test('a received SMS is claimed once and stays in the history', async (t) => {
  const { node, get, number } = await setup(t);
  node.sendFact(1, received('hello 👋 @£'));
  await until('the fact is committed', () => node.acknowledged === 1);
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
  const { url, node, history } = await setup(t);
  node.sendFact(1, received('one'));
  node.sendFact(1, received('one'));
  node.sendFact(2, received('one'));
  await until('committed', () => node.acknowledged === 2);
  await node.drop();
  const again = await relink(t, url, { journalId: 'journal-1', oldestSequence: 1 });
  t.match(again.frames[0], { type: 'welcome', acknowledged: 2 });
  again.sendFact(1, received('one'));
  again.sendFact(2, received('one'));
  again.sendFact(3, received('two'));
  await until('committed', () => again.acknowledged === 3);
  t.same(
    (await history()).map(({ body }) => body),
    ['two', 'one', 'one'],
  );
});

t.test('a node with a new journal starts at 1 again and loses nothing', async (t) => {
  const { url, node, history } = await setup(t);
  node.sendFact(1, received('old journal'));
  await until('committed', () => node.acknowledged === 1);
  await node.drop();
  const fresh = await relink(t, url, { journalId: 'journal-2' });
  fresh.sendFact(1, received('new journal'));
  await until('committed', () => fresh.acknowledged === 1);
  t.equal((await history()).length, 2);
});

t.test('parallel claims never get a row twice, and get all', async (t) => {
  const { node, get } = await setup(t);
  const total = 200;
  for (let sequence = 1; sequence <= total; sequence += 1) node.sendFact(sequence, received(`m${sequence}`));
  await until('committed', () => node.acknowledged === total);
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

t.test('an SMS for a SIM that nobody subscribed to is taken and kept from everyone', async (t) => {
  const { node, get } = await setup(t);
  node.sendFact(1, { ...received('stray'), iccid: '89010000000000009999' } as Fact);
  await until('committed', () => node.acknowledged === 1);
  t.equal((await get('/sms/receive')).body['count'], 0);
});

t.test('NUL in a received text does not stop the link', async (t) => {
  const { node, history } = await setup(t);
  node.sendFact(1, received('a\u0000b'));
  await until('committed', () => node.acknowledged === 1);
  t.equal((await history())[0]?.body, 'a\ufffdb');
});

t.test(
  'a sent SMS reaches the node with its exact text and is queued with the carrier’s reference',
  async (t) => {
    const { node, send, history } = await setup(t);
    const answer = await send({ to: '+13105550188', body: 'Grüße {€} 😀' });
    t.match(answer, { status: 200, body: { message_id: /\.7$/, status: 'queued' } });
    t.match(node.commands('send_sms'), [
      { params: { iccid: SLOT.iccid, to: '+13105550188', body: 'Grüße {€} 😀', segments_max: 1 } },
    ]);
    t.match(await history(), [
      { direction: 'sent', status: 'queued', message_id: answer.body['message_id'] },
    ]);
  },
);

t.test('only a delivery report makes it delivered', async (t) => {
  const { node, send, history } = await setup(t);
  await send({ to: '+13105550188', body: 'hi' });
  const report: Fact = {
    kind: 'sms_report',
    iccid: String(SLOT.iccid),
    command_id: String(node.commands('send_sms')[0]?.id),
    message_reference: 7,
    recipient: '+13105550188',
    status: 'delivered',
    tp_status: 0,
    at: new Date().toISOString(),
  };
  node.sendFact(1, report);
  await until('committed', () => node.acknowledged === 1);
  t.match(await history(), [{ status: 'delivered', delivered_at: null }]);
});

t.test('what the carrier or the node refuses is 502 and failed', async (t) => {
  const { send, history } = await setup(t, {
    onCommand: (command) => {
      if (command.name !== 'send_sms') return acceptAll(command);
      const { body } = command.params as { body: string };
      return body === 'carrier'
        ? {
            type: 'result',
            id: command.id,
            ok: true,
            result: {
              status: 'rejected',
              code: 'cms_38',
              message: 'network out of order',
              at: new Date().toISOString(),
            },
          }
        : { type: 'refusal', id: command.id, code: 'slot_unavailable', message: 'the modem is gone' };
    },
  });
  t.match(await send({ to: '+13105550188', body: 'carrier' }), {
    status: 502,
    body: { error: 'phone_node_error', reason: 'cms_38', message: String },
  });
  t.match(await send({ to: '+13105550188', body: 'node' }), {
    status: 502,
    body: { error: 'phone_node_error', reason: 'slot_unavailable' },
  });
  t.match(await history(), [{ status: 'failed' }, { status: 'failed' }]);
});

t.test('no answer in time is 502 and unknown, until the node tells what happened', async (t) => {
  const { node, send, history } = await setup(t, {
    sendTimeoutMs: 150,
    onCommand: (command) => (command.name === 'send_sms' ? undefined : acceptAll(command)),
  });
  t.match(await send({ to: '+13105550188', body: 'slow' }), {
    status: 502,
    body: { error: 'phone_node_error' },
  });
  t.match(await history(), [{ status: 'unknown', message_id: null }]);
  const commandId = String(node.commands('send_sms')[0]?.id);
  node.sendFact(1, {
    kind: 'sms_outcome',
    command_id: commandId,
    outcome: { status: 'accepted', message_references: [9], at: new Date().toISOString() },
  });
  await until('committed', () => node.acknowledged === 1);
  t.match(await history(), [{ status: 'queued', message_id: `${commandId}.9` }]);
});

t.test(
  'a link that breaks in mid-send: unknown, then settled by what the node recorded, never sent again',
  async (t) => {
    const { url, node, send, history } = await setup(t, {
      onCommand: (command) => (command.name === 'send_sms' ? undefined : acceptAll(command)),
    });
    const sending = send({ to: '+13105550188', body: 'broken' });
    await until('the command is at the node', () => node.commands('send_sms').length === 1);
    await node.drop();
    t.equal((await sending).status, 502);
    t.match(await history(), [{ status: 'unknown' }]);

    const back = await ScriptedNode.connect(url, { journalId: 'journal-1' });
    t.teardown(() => back.drop());
    await until('settled', async () => (await history())[0]?.status === 'queued');
    t.match(back.commands('send_sms'), [{ id: node.commands('send_sms')[0]?.id, time_left_ms: 0 }]);
  },
);

t.test('a send that the node never saw is failed when the node comes back', async (t) => {
  const { url, node, send, history } = await setup(t, {
    onCommand: (command) => (command.name === 'send_sms' ? undefined : acceptAll(command)),
  });
  const sending = send({ to: '+13105550188', body: 'lost' });
  await until('on its way', () => node.commands('send_sms').length === 1);
  await node.drop();
  await sending;
  await relink(t, url, {
    onCommand: (command) =>
      command.name === 'send_sms'
        ? { type: 'refusal', id: command.id, code: 'deadline_passed', message: 'never seen' }
        : acceptAll(command),
  });
  await until('settled', async () => (await history())[0]?.status === 'failed');
});

t.test(
  'an old doubt stays a doubt: a node that has forgotten the command does not make it failed',
  async (t) => {
    const { url, databaseUrl, node, send, history } = await setup(t, {
      onCommand: (command) => (command.name === 'send_sms' ? undefined : acceptAll(command)),
    });
    const sending = send({ to: '+13105550188', body: 'long ago' });
    await until('on its way', () => node.commands('send_sms').length === 1);
    await node.drop();
    await sending;
    const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
    await db
      .updateTable('messages')
      .set({ created_at: new Date(Date.now() - 8 * 86_400_000) })
      .execute();
    await close();
    const back = await relink(t, url, {
      onCommand: (command) =>
        command.name === 'send_sms'
          ? { type: 'refusal', id: command.id, code: 'deadline_passed', message: 'never seen' }
          : acceptAll(command),
    });
    back.sendFact(1, received('something else'));
    await until('the link is in service', () => back.acknowledged === 1);
    t.match(await history('?direction=sent'), [{ status: 'unknown' }]);
  },
);

t.test('HEAD claims nothing', async (t) => {
  const { url, node, get, headers } = await setup(t);
  node.sendFact(1, received('x'));
  await until('committed', () => node.acknowledged === 1);
  t.equal((await fetch(`${url}/sms/receive`, { method: 'HEAD', headers })).status, 405);
  t.equal((await get('/sms/receive')).body['count'], 1);
});

t.test('without a node it is 502', async (t) => {
  const { node, send } = await setup(t);
  await node.drop();
  t.match(await send({ to: '+13105550188', body: 'x' }), {
    status: 502,
    body: { error: 'phone_node_error' },
  });
});

t.test('a body of one segment goes, a longer one is 400 with its measure', async (t) => {
  const { send, node } = await setup(t);
  const cases: Array<[body: string, measure: object | undefined]> = [
    ['a'.repeat(160), undefined],
    ['a'.repeat(161), { encoding: 'gsm7', units: 161, max_units: 160 }],
    ['€'.repeat(80), undefined],
    ['€'.repeat(81), { encoding: 'gsm7', units: 162, max_units: 160 }],
    ['ж'.repeat(70), undefined],
    ['ж'.repeat(71), { encoding: 'ucs2', units: 71, max_units: 70 }],
    ['😀'.repeat(35), undefined],
    ['😀'.repeat(36), { encoding: 'ucs2', units: 72, max_units: 70 }],
  ];
  for (const [body, measure] of cases) {
    const answer = await send({ to: '+13105550188', body });
    if (measure === undefined) t.equal(answer.status, 200, body);
    else t.match(answer, { status: 400, body: { error: 'invalid_request', ...measure } }, body);
  }
  t.equal(node.commands('send_sms').length, 4);
});

t.test('a bad destination or body is 400, and no node hears of it', async (t) => {
  const { send, node, history } = await setup(t);
  const invalid: unknown[] = [
    {},
    { to: '+13105550188' },
    { body: 'x' },
    { to: '+13105550188', body: '' },
    { to: '+13105550188', body: 7 },
    { to: '+13105550188', body: 'a\u0000b' },
    { to: '+13105550188', body: 'a\ud83d' },
    { to: '13105550188', body: 'x' },
    { to: '(310) 555-0188', body: 'x' },
    { to: '+1310555018', body: 'x' },
    { to: '+131055501889', body: 'x' },
    { to: '+13105550188;', body: 'x' },
    { to: '+1310555\r\nAT', body: 'x' },
    { to: '', body: 'x' },
    [],
    null,
  ];
  for (const request of invalid) {
    const answer = await send(request);
    t.match(
      answer,
      { status: 400, body: { error: 'invalid_request', message: String } },
      JSON.stringify(request),
    );
  }
  for (const to of [
    '911',
    '+1911',
    '112',
    '933',
    '+1933',
    '12345',
    '988',
    '+19115550100',
    '+19005550100',
    '+442071838750',
  ]) {
    t.match(await send({ to, body: 'x' }), { status: 400, body: { error: 'destination_not_allowed' } }, to);
  }
  t.equal(node.commands('send_sms').length, 0);
  t.same(await history(), []);
});

t.test('pages of the history join to the whole, newest first, with filters', async (t) => {
  const { node, get, send, history } = await setup(t);
  for (let sequence = 1; sequence <= 25; sequence += 1) node.sendFact(sequence, received(`m${sequence}`));
  await until('committed', () => node.acknowledged === 25);
  await send({ to: '+13105550188', body: 'mine' });
  const all = await history('?limit=100');
  t.equal(all.length, 26);
  t.equal(all[0]?.body, 'mine');
  const paged: Row[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await get(`/sms/messages?limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    paged.push(...(body['messages'] as Row[]));
    cursor = body['next_cursor'] as string | null;
  }
  t.same(paged, all);
  t.equal((await history('?direction=sent')).length, 1);
  t.equal((await history('?direction=received&limit=100')).length, 25);
  const oldest = String(all.at(-1)?.created_at);
  t.ok((await history(`?until=${oldest}&limit=100`)).length >= 1, 'bounds are inclusive');
  t.equal((await history(`?since=${oldest}&limit=100`)).length, 26);
  t.equal((await history('?since=2100-01-01T00:00:00Z')).length, 0);
});

t.test('bad query values are 400 and claim nothing', async (t) => {
  const { node, get } = await setup(t);
  node.sendFact(1, received('x'));
  await until('committed', () => node.acknowledged === 1);
  for (const path of [
    '/sms/receive?limit=0',
    '/sms/receive?limit=101',
    '/sms/receive?limit=-1',
    '/sms/receive?limit=abc',
    '/sms/receive?limit=1&limit=2',
    '/sms/receive?limit=',
    '/sms/messages?limit=0',
    '/sms/messages?limit=1e2',
    '/sms/messages?direction=up',
    '/sms/messages?since=yesterday',
    '/sms/messages?until=2026-13-01T00:00:00Z',
    '/sms/messages?since=0000-01-01T00:00:00Z',
    '/sms/messages?since=9999-12-31T23:59:59-23:59',
    '/sms/messages?cursor=abc',
    '/sms/messages?cursor=',
  ]) {
    t.match(await get(path), { status: 400, body: { error: 'invalid_request', message: String } }, path);
  }
  t.equal((await get('/sms/receive')).body['count'], 1);
});
