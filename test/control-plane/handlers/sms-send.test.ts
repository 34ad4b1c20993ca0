// /sms/send: what goes to the node, what comes of it, and what is refused before.
import t from 'tap';
import { openDatabase } from '#control-plane/store/database/database.ts';
import type { Fact } from '#shared/link/messages.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { received, SLOT, subscriber } from '../../fixtures/agents/subscriber.ts';
import { acceptAll, linkNode } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test(
  'a sent SMS reaches the node with its exact text and is queued with the carrier’s reference',
  async (t) => {
    const { node, send, history } = await subscriber(t, rig);
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
  const { node, send, history } = await subscriber(t, rig);
  await send({ to: '+13105550188', body: 'hi' });
  const report: Fact = {
    kind: 'sms_report',
    iccid: String(SLOT.iccid),
    command_id: String(node.commands('send_sms')[0]?.id),
    message_reference: 7,
    recipient: '+13105550188',
    status: 'delivered',
    part: 1,
    parts: 1,
    tp_status: 0,
    at: new Date().toISOString(),
  };
  await node.report(report);
  t.match(await history(), [{ status: 'delivered', delivered_at: null }]);
});

t.test(
  'a message of several segments is delivered when all are, and failed when one finally is',
  async (t) => {
    const { node, send, history } = await subscriber(t, rig);
    await send({ to: '+13105550188', body: 'first' });
    await send({ to: '+13105550188', body: 'second' });
    const [first, second] = node.commands('send_sms').map(({ id }) => String(id));
    const end = { delivered: 0x00, failed: 0x40, expired: 0x46 };
    const report = async (command_id: string | undefined, part: number, status: keyof typeof end) => {
      await node.report({
        kind: 'sms_report',
        iccid: String(SLOT.iccid),
        command_id: String(command_id),
        message_reference: 7,
        recipient: '+13105550188',
        status,
        tp_status: end[status],
        part,
        parts: 3,
        at: new Date().toISOString(),
      });
      return (await history()).map((message) => (message as { status: string }).status);
    };
    t.same(await report(first, 3, 'delivered'), ['queued', 'queued'], 'newest first');
    t.same(await report(first, 1, 'delivered'), ['queued', 'queued']);
    t.same(await report(first, 1, 'delivered'), ['queued', 'queued'], 'the same segment again');
    t.same(await report(second, 1, 'delivered'), ['queued', 'queued']);
    t.same(await report(second, 2, 'expired'), ['expired', 'queued']);
    t.same(await report(first, 2, 'delivered'), ['expired', 'delivered']);
    t.same(await report(first, 2, 'failed'), ['expired', 'delivered'], 'the first end counts');
  },
);

t.test('a text that the carrier or the node refuses is 502 and failed', async (t) => {
  const { send, history } = await subscriber(t, rig, {
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

t.test('an answer that is no result is 502 and unknown', async (t) => {
  const { send, history } = await subscriber(t, rig, {
    service: { sendTimeoutMs: 1_001 },
    onCommand: (command) =>
      command.name === 'send_sms'
        ? { type: 'result', id: command.id, ok: true, result: { status: 'perhaps' } }
        : acceptAll(command),
  });
  t.match(await send({ to: '+13105550188', body: 'x' }), {
    status: 502,
    body: { error: 'phone_node_error' },
  });
  t.match(await history(), [{ status: 'unknown' }]);
});

t.test('no answer in time is 502 and unknown, until the node reports what happened', async (t) => {
  const { node, send, history } = await subscriber(t, rig, {
    service: { sendTimeoutMs: 150 },
    onCommand: (command) => (command.name === 'send_sms' ? undefined : acceptAll(command)),
  });
  t.match(await send({ to: '+13105550188', body: 'slow' }), {
    status: 502,
    body: { error: 'phone_node_error' },
  });
  t.match(await history(), [{ status: 'unknown', message_id: null }]);
  const commandId = String(node.commands('send_sms')[0]?.id);
  await node.report({
    kind: 'sms_outcome',
    command_id: commandId,
    outcome: { status: 'accepted', message_references: [9], at: new Date().toISOString() },
  });
  t.match(await history(), [{ status: 'queued', message_id: `${commandId}.9` }]);
});

t.test('a node that has forgotten an old unknown send does not make it failed', async (t) => {
  const { url, databaseUrl, node, send, history } = await subscriber(t, rig, {
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
  const back = await linkNode(t, url, {
    onCommand: (command) =>
      command.name === 'send_sms'
        ? { type: 'refusal', id: command.id, code: 'deadline_passed', message: 'never seen' }
        : acceptAll(command),
  });
  await back.report(received('something else'));
  t.match(await history('?direction=sent'), [{ status: 'unknown' }]);
});

t.test('a send without a node is 502', async (t) => {
  const { node, send } = await subscriber(t, rig);
  await node.drop();
  t.match(await send({ to: '+13105550188', body: 'x' }), {
    status: 502,
    body: { error: 'phone_node_error' },
  });
});

t.test('a body of one segment goes, a longer one is 400 with its measure', async (t) => {
  const { send, node } = await subscriber(t, rig);
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
  const { send, node, history } = await subscriber(t, rig);
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

t.test('the limit of a SIM is 429 with the time after which another may pass', async (t) => {
  for (const [wait, retryAfter] of [
    [{ retry_after_ms: 12_300 }, '13'],
    [{}, '60'],
  ] as const) {
    const { url, headers, history } = await subscriber(t, rig, {
      onCommand: ({ id }) => ({ type: 'refusal', id, code: 'rate_limited', message: 'slow down', ...wait }),
    });
    const response = await fetch(
      `${url}/sms/send`,
      jsonPost({ to: '+13105550188', body: 'too many' }, headers),
    );
    t.equal(response.status, 429);
    t.equal(response.headers.get('retry-after'), retryAfter);
    t.match(await response.json(), { error: 'rate_limited', message: 'slow down' });
    t.match(await history(), [{ status: 'failed' }], 'it was not tried');
  }
});

t.test('a rejection carries the modem’s error text and its class', async (t) => {
  const at = new Date().toISOString();
  const { send } = await subscriber(t, rig, {
    onCommand: ({ id }) => ({
      type: 'result',
      id,
      ok: true,
      result: { status: 'rejected', code: 'cms_38', class: 'retry', message: 'network out of order', at },
    }),
  });
  t.match(await send({ to: '+13105550188', body: 'x' }), {
    status: 502,
    body: { error: 'phone_node_error', reason: 'cms_38', class: 'retry' },
  });
});

t.test('a picture is refused by name, before anything is sent', async (t) => {
  const { node, send } = await subscriber(t, rig);
  for (const [field, value] of [
    ['media_url', 'https://example.org/cat.png'],
    ['media', [{ type: 'image/png' }]],
    ['attachments', ['cat.png']],
  ] as const) {
    const answer = await send({ to: '+13105550188', body: 'look', [field]: value });
    t.match(answer, { status: 400, body: { error: 'invalid_request', field, message: /sends text only/ } });
  }
  t.same(node.commands('send_sms'), []);
  t.match(await send({ to: '+13105550188', body: 'none', media: [] }), { status: 200 });
});
