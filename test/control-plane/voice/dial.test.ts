// POST /voice/dial: answers for what becomes of a call, and for calls that may not be made.
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sql } from 'kysely';
import t from 'tap';
import { inTransaction } from '#control-plane/store/database/database.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { FAR_END, refusedUpgrade, telephone } from '../../fixtures/agents/telephone.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import type { Answer, Command } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { instanceCount, ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** The service is in this process: what it knows of a connection can be seen. */
const responses: ServerResponse[] = [];
subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  if (request.url === '/voice/dial') responses.push(response);
});

const refusal =
  (
    code: 'line_busy' | 'slot_unavailable' | 'sim_absent' | 'rate_limited' | 'command_unknown',
    more: object = {},
  ) =>
  ({ id }: Command): Answer => ({ type: 'refusal', id, code, message: 'as scripted', ...more });

t.test('a call that rings is 200 with the URL of its audio', async (t) => {
  const { dial, line, node, number, url, calls } = await telephone(t, rig);
  const { status, body } = await dial();
  t.equal(status, 200);
  const callId = String(body['call_id']);
  t.same(body, {
    call_id: callId,
    stream_url: `${url.replace('http', 'ws')}/voice/stream/${callId}`,
    direction: 'outbound',
    caller: FAR_END,
    phone_number: number,
  });
  t.match(node.commands('dial')[0]?.params, { call_id: callId, iccid: line.calls[0]?.iccid, to: FAR_END });
  await until('it is noted', async () => (await calls())[0]?.['state'] === 'ringing');
  line.answer(callId);
  await until('answered', async () => (await calls())[0]?.['state'] === 'active');
  t.match((await calls())[0], {
    call_id: callId,
    direction: 'outbound',
    caller: FAR_END,
    phone_number: number,
  });
});

t.test('a call that is not connected is 502 with reason and cause, and recorded', async (t) => {
  const { dial, line, calls } = await telephone(t, rig);
  for (const [reason, cause] of [
    ['busy', 17],
    ['no_answer', 19],
    ['rejected', 21],
    ['network_failure', 38],
  ] as const) {
    line.dialled = () => ({ status: 'ended', reason, cause });
    const { status, body } = await dial();
    t.match(
      { status, ...body },
      { status: 502, error: 'phone_node_unreachable', message: String, reason, cause },
    );
    await until('recorded', async () => {
      const [newest] = await calls('?limit=1');
      return newest?.['call_id'] === body['call_id'] && newest?.['state'] === 'ended';
    });
    t.match((await calls('?limit=1'))[0], { reason, cause, duration_ms: 0, answered_at: null });
  }
});

t.test('a dial that the node refuses leaves no call record', async (t) => {
  const { dial, line, calls } = await telephone(t, rig);
  line.dialled = refusal('line_busy');
  t.match(await dial(), { status: 409, body: { error: 'line_busy' } });
  line.dialled = refusal('rate_limited', { retry_after_ms: 7_000 });
  const limited = await dial();
  t.match(limited, { status: 429, body: { error: 'rate_limited' } });
  t.equal(limited.headers['retry-after'], '7');
  for (const code of ['slot_unavailable', 'sim_absent', 'command_unknown'] as const) {
    line.dialled = refusal(code);
    const message = /^The call was not placed\. /;
    t.match(await dial(), { status: 502, body: { error: 'phone_node_unreachable', reason: code, message } });
  }
  t.same(await calls(), []);
});

t.test(
  'two at once on one SIM: one rings and one is 409, and when it is over the line is free',
  async (t) => {
    const { dial, line, node, hangUp } = await telephone(t, rig);
    const both = await Promise.all([dial(), dial()]);
    t.same(both.map(({ status }) => status).sort(), [200, 409]);
    t.equal(both.find(({ status }) => status === 409)?.body['error'], 'line_busy');
    t.equal(line.calls.length, 1);
    if (instanceCount() === 1) t.equal(node.commands('dial').length, 1, 'the node was not asked for both');
    t.equal((await dial()).status, 409, 'while it rings');
    await hangUp(String(line.calls[0]?.call_id));
    await until('the line is free', async () => (await dial()).status === 200);
  },
);

t.test('a call that comes in makes the line busy', async (t) => {
  const { dial, line, node } = await telephone(t, rig);
  line.ring();
  await until('busy', async () => (await dial()).status === 409);
  t.ok(node.commands('dial').length <= instanceCount());
});

t.test('only the subscriber of a number can dial from it', async (t) => {
  const { dial, ask, url, databaseUrl } = await telephone(t, rig);
  const db = await openTestDatabase(t, databaseUrl);
  await db
    .insertInto('numbers')
    .values({ number: '+12065550777', iccid: '8901000000000000777', created_at: new Date() })
    .execute();
  t.match(await dial(FAR_END, '+12065550777'), { status: 403, body: { error: 'forbidden' } });
  for (const unknown of ['+12065550888', 'mine', '+1']) {
    t.match(await dial(FAR_END, unknown), { status: 404, body: { error: 'phone_number_not_found' } });
    t.match(await ask('/voice/dial', { to: FAR_END }), { status: 400, body: { error: 'invalid_request' } });
  }
  t.match(await ask('/voice/dial', '{'), { status: 400, body: { error: 'invalid_json' } });
  t.match(await ask('/voice/dial', { phone_number: 1, to: FAR_END }), { status: 400 });
  for (const path of ['/voice/dial', '/voice/hangup', '/voice/calls']) {
    const response = await fetch(url + path, { method: path === '/voice/calls' ? 'GET' : 'POST' });
    t.equal(response.status, 401, path);
  }
  t.match(await refusedUpgrade(url, '/voice/stream/call_1'), {
    status: 401,
    body: { error: 'unauthorized' },
  });
  t.match(await ask('/voice/stream/call_1'), { status: 426, body: { error: 'upgrade_required' } });
});

t.test('a number that is not bound is 409, a node that is away 502', async (t) => {
  const { dial, node, databaseUrl } = await telephone(t, rig);
  await node.drop();
  await until('offline', async () => (await dial()).body['reason'] === 'node_offline');
  t.match(await dial(), { status: 502, body: { error: 'phone_node_unreachable' } });
  const db = await openTestDatabase(t, databaseUrl);
  await db.updateTable('sims').set({ bound_to: null }).execute();
  t.match(await dial(), { status: 409, body: { error: 'subscription_not_bound' } });
});

t.test('a client that aborts the request has the call hung up: no client knows its id', async (t) => {
  const { line, node, headers, number, url } = await telephone(t, rig);
  line.dialled = () => undefined;
  const controller = new AbortController();
  const asked = fetch(`${url}/voice/dial`, {
    method: 'POST',
    signal: controller.signal,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ phone_number: number, to: FAR_END }),
  });
  const dialled = await until('the node dials', () => node.commands('dial')[0]);
  controller.abort();
  await t.rejects(asked);
  const hungUp = await until('it is hung up', () => node.commands('hang_up')[0]);
  const { call_id: callId } = dialled.params as { call_id: string };
  t.match(hungUp.params, { call_id: callId, reason: 'abandoned' });
});

t.test('a client that has gone before the call is stored: nothing is dialed', async (t) => {
  const { databaseUrl, node, headers, number, url, calls, dial } = await telephone(t, rig);
  const db = await openTestDatabase(t, databaseUrl);
  const controller = new AbortController();
  await inTransaction(db, async (trx) => {
    await sql`lock table calls in exclusive mode`.execute(trx);
    const asked = fetch(`${url}/voice/dial`, {
      method: 'POST',
      signal: controller.signal,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ phone_number: number, to: FAR_END }),
    });
    await until('it waits', waitsForLock(db));
    controller.abort();
    await t.rejects(asked);
    await until('the service knows', () => responses.at(-1)?.destroyed);
  });
  await until('the line is free', async () => (await dial()).status === 200);
  t.equal(node.commands('dial').length, 1);
  t.equal((await calls()).length, 1);
});

t.test('a token that is revoked while the node dials gets no call: it is hung up', async (t) => {
  const { line, node, dial, url } = await telephone(t, rig);
  line.dialled = () => undefined;
  const asked = dial();
  await until('the node dials', () => node.commands('dial')[0]);
  t.equal((await recoverToken(url, ALICE.privateKey)).status, 200);
  t.match(await asked, { status: 401, body: { error: 'unauthorized' } });
  t.match(await until('it is hung up', () => node.commands('hang_up')[0]), {
    params: { reason: 'abandoned' },
  });
});

t.test(
  'a node that does not answer: 502, the call is hung up when it appears, and the record has its end',
  async (t) => {
    const { dial, line, node, calls } = await telephone(t, rig, { service: { dialTimeoutMs: 300 } });
    line.dialled = () => undefined;
    const { status, body } = await dial();
    t.match(
      { status, ...body },
      { status: 502, error: 'phone_node_unreachable', reason: 'no_answer_from_node' },
    );
    const callId = String(body['call_id']);
    const { iccid = '' } = (node.commands('dial')[0]?.params ?? {}) as { iccid?: string };
    await until('hung up', () => node.commands('hang_up').length > 0);
    const startedAt = new Date().toISOString();
    line.end(
      {
        call_id: callId,
        iccid,
        direction: 'outbound',
        state: 'ringing',
        peer: FAR_END,
        started_at: startedAt,
        answered_at: null,
      },
      { reason: 'local_hangup', cause: 16 },
    );
    await until('its end', async () => (await calls())[0]?.['state'] === 'ended');
    t.match(await calls(), [{ call_id: callId, reason: 'local_hangup', cause: 16 }]);
    line.dialled = () => ({ status: 'active' });
    await until('the line is free', async () => (await dial()).status === 200);
  },
);

t.test(
  'a redial while the call before it ends says when to try again; a call that goes on does not',
  { skip: ofOneInstance('another one knows the call by the report of its node, and here none comes') },
  async (t) => {
    const { dial, hangUp, line, node } = await telephone(t, rig);
    line.reportsByItself = false;
    const callId = String((await dial()).body['call_id']);
    const busy = await dial();
    t.match(busy, {
      status: 409,
      body: { error: 'line_busy', message: /GET \/voice\/calls/, call_id: callId },
    });
    t.equal(busy.headers['retry-after'], undefined);
    t.equal((await hangUp(callId)).status, 200);
    const early = await dial();
    t.match(early, {
      status: 409,
      body: { error: 'line_busy', call_id: callId },
      headers: { 'retry-after': '1' },
    });
    const [call] = line.calls;
    if (call !== undefined) line.end(call, { reason: 'local_hangup', cause: 16 });
    await until('the line is free', async () => (await dial()).status === 200);
    t.equal(node.commands('dial').length, 2);
  },
);
