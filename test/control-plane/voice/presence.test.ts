// GET /voice/presence: who may watch, which events of calls it sends, and when the socket is closed.
import { EventEmitter } from 'node:events';
import t from 'tap';
import WebSocket from 'ws';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { hashToken, mintToken } from '#control-plane/domain/bearer-token.ts';
import type { Subscription } from '#control-plane/domain/subscription.ts';
import type { Database } from '#control-plane/store/database/database.ts';
import type { CallRow } from '#control-plane/store/messages/calls.ts';
import { replaceTokens } from '#control-plane/store/money/credentials.ts';
import type { LiveCalls } from '#control-plane/voice/live-calls.ts';
import { Presence } from '#control-plane/voice/presence.ts';
import { createPresenceEvents } from '#control-plane/voice/presence-event.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { CAUSE } from '#shared/voice/release-cause.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { FAR_END, refusedUpgrade, telephone, telephoneClient } from '../../fixtures/agents/telephone.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });

class StubSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  isTerminated = false;
  readonly sent: unknown[] = [];

  send(data: unknown): void {
    this.sent.push(data);
  }

  terminate(): void {
    this.isTerminated = true;
    this.readyState = 3;
  }

  asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }
}

/** Presence with nothing behind it: for what a loopback connection, whose buffers take megabytes, cannot show. */
function scriptedPresence() {
  const watchers: Array<(call: CallRow) => void> = [];
  const live = {
    instance: 'here',
    watch: (watcher: (call: CallRow) => void) => watchers.push(watcher),
    ringing: () => [],
    find: () => undefined,
  };
  const bus = new LocalBus(systemClock);
  const presence = new Presence({
    live: live as unknown as LiveCalls,
    db: undefined as unknown as Database,
    bus,
    clock: systemClock,
    log: silentLogger,
    events: createPresenceEvents((id) => id),
  });
  const change = (call: CallRow): void => watchers.forEach((watcher) => void watcher(call));
  return { presence, bus, live: { change } };
}

const ringing = (callId: string): CallRow => ({
  callId,
  subscriptionId: 'sub_1',
  number: '+12065550001',
  iccid: '1',
  nodeId: 'n',
  direction: 'inbound',
  peer: null,
  state: 'ringing',
  startedAt: new Date(),
  answeredAt: null,
  answeredBy: null,
});

t.test('an incoming call rings, is answered and ends, on every socket', async (t) => {
  const { presence, line, stream, url, number } = await telephone(t, rig);
  const watchers = await Promise.all([presence(number), presence(number.replace('+', '%2B')), presence()]);
  const call = line.ring();
  await until('ringing', () => watchers.every(({ texts }) => texts.length === 1));
  const common = {
    call_id: call.call_id,
    direction: 'inbound',
    caller: FAR_END,
    phone_number: number,
    stream_url: `${url.replace('http', 'ws')}/voice/stream/${call.call_id}`,
  };
  for (const { texts } of watchers) t.same(texts, [{ kind: 'ringing', ...common, at: call.started_at }]);
  const client = await stream(call.call_id);
  await until('answered', () => watchers.every(({ texts }) => texts.length === 2));
  const answeredAt = String(line.calls[0]?.answered_at);
  for (const { texts } of watchers) t.same(texts[1], { kind: 'answered', ...common, at: answeredAt });
  const endedAt = new Date(Date.parse(answeredAt) + 4_321).toISOString();
  line.end(call, { reason: 'remote_hangup', cause: 16 }, { ended_at: endedAt });
  await until('ended', () => watchers.every(({ texts }) => texts.length === 3));
  for (const { texts } of watchers)
    t.match(texts[2], { kind: 'ended', ...common, reason: 'remote_hangup', cause: 16, duration_ms: Number });
  await client.closed();
});

t.test(
  'an end is no later than now, whatever the node’s clock says; a caller that is withheld is null',
  async (t) => {
    const { presence, line } = await telephone(t, rig);
    const watcher = await presence();
    const call = line.ring(null);
    await until('ringing', () => watcher.texts.length === 1);
    t.equal(watcher.texts[0]?.['caller'], null);
    line.end(call, { reason: 'cancelled', cause: 16 }, { ended_at: '2199-01-01T00:00:00.000Z' });
    await until('ended', () => watcher.texts.length === 2);
    t.match(watcher.texts[1], { kind: 'ended', reason: 'cancelled', cause: 16, duration_ms: 0 });
    t.ok(Date.parse(String(watcher.texts[1]?.['at'])) <= Date.now());
  },
);

t.test('a hang-up is dispatched at once, and ended is sent when it is confirmed', async (t) => {
  const { presence, line, dial, hangUp, node } = await telephone(t, rig);
  const watcher = await presence();
  line.reportsByItself = false;
  const callId = String((await dial()).body['call_id']);
  t.match((await hangUp(callId)).body, {
    call_id: callId,
    // Not the IMEI that the node reported.
    device_id: /^dev_[0-9a-f]{16}$/,
    status: 'hangup_sent',
  });
  t.equal(node.commands('hang_up').length, 1);
  t.same(watcher.texts, [], 'a call that is dialled does not ring here');
  const [call] = line.calls;
  if (call !== undefined) line.end(call, { reason: 'local_hangup', cause: 16 });
  await until('ended', () => watcher.texts.length === 1);
  t.match(watcher.texts, [{ kind: 'ended', direction: 'outbound', caller: FAR_END, reason: 'local_hangup' }]);
  t.match(await hangUp(callId), { status: 404, body: { error: 'call_not_found', call_id: callId } });
});

t.test('hanging up a call that rings rejects it; of unknown calls and silent nodes', async (t) => {
  const { presence, line, hangUp, ask, node } = await telephone(t, rig);
  const watcher = await presence();
  const { call_id: callId } = line.ring();
  await until('ringing', () => watcher.texts.length === 1);
  t.equal((await hangUp(callId)).status, 200);
  await until('ended', () => watcher.texts.length === 2);
  for (const call_id of [callId, 'call_nope'])
    t.match(await hangUp(call_id), { status: 404, body: { error: 'call_not_found', call_id } });
  for (const body of [{}, { call_id: '' }, { call_id: 7 }, { call_id: 'a\u0000b' }])
    t.match(await ask('/voice/hangup', body), { status: 400, body: { error: 'invalid_request' } });
  t.match(await ask('/voice/hangup', '{'), { status: 400, body: { error: 'invalid_json' } });
  const { call_id: next } = line.ring();
  await until('ringing', () => watcher.texts.length === 3);
  await node.drop();
  await until('gone', async () => {
    const { status, body } = await hangUp(next);
    return status === 502 && body['error'] === 'phone_node_error' && body['call_id'] === next;
  });
});

t.test('calls that begin or are answered while the database is away are known when it is back', async (t) => {
  const { presence, line, ask, databaseUrl } = await telephone(t, rig);
  const watcher = await presence();
  const unavailable = () =>
    until('the database is away', async () => (await ask('/sms/messages')).status === 503);
  const away = async <T>(during: () => T): Promise<T> => {
    await rig.postgres.setAway(databaseUrl, true);
    await unavailable();
    const result = during();
    await unavailable();
    await rig.postgres.setAway(databaseUrl, false);
    return result;
  };

  const { call_id: callId } = await away(() => line.ring());
  await until('it rings', () => watcher.of({ kind: 'ringing', call_id: callId }).length === 1);
  // The answer may have no calls yet.
  const stateOf = async () =>
    ((await ask('/voice/calls')).body['calls'] as { state: string }[] | undefined)?.[0]?.state;
  await until('it is stored', async () => (await stateOf()) === 'ringing');

  await away(() => line.answer(callId));
  await until('its answer is stored', async () => (await stateOf()) === 'active');
});

t.test('a client that connects later gets the calls that ring now', async (t) => {
  const { presence, line } = await telephone(t, rig);
  const first = await presence();
  const call = line.ring();
  await until('ringing', () => first.texts.length === 1);
  const second = await presence();
  await until('replayed', () => second.texts.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.same(second.texts, first.texts, 'once');
  line.end(call, { reason: 'cancelled', cause: 16 });
  await until('ended', () => second.texts.length === 2);
  const third = await presence();
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.same(third.texts, []);
});

t.test('a client that may not watch is refused before the upgrade', async (t) => {
  const { url, headers, databaseUrl, token } = await telephone(t, rig);
  const db = await openTestDatabase(t, databaseUrl);
  await db
    .insertInto('numbers')
    .values({ number: '+12065550777', iccid: '8901000000000000777', created_at: new Date() })
    .execute();
  const path = (number: string) => `/voice/presence/${number}`;
  for (const authorization of ['', 'Bearer x', `Bearer ${token}x`])
    t.match(await refusedUpgrade(url, path('+12065550001'), { authorization }), {
      status: 401,
      body: { error: 'unauthorized', message: String },
    });
  t.match(await refusedUpgrade(url, path('+12065550777'), headers), {
    status: 403,
    body: { error: 'forbidden' },
  });
  for (const unknown of ['+12065550888', '12065550001', 'x', '%2B'])
    t.match(await refusedUpgrade(url, path(unknown), headers), {
      status: 404,
      body: { error: 'phone_number_not_found' },
    });
  for (const nothing of ['/voice/presence/', '/voice/presence', '/voice/presence/%', '/voice/presence/a/b'])
    t.match(await refusedUpgrade(url, nothing, headers), { status: 404, body: { error: 'not_found' } });
});

t.test('a revoked token closes its sockets at once, also on another instance', async (t) => {
  // No time passes: no check that is due later closes them.
  const service = { clock: new ManualClock(), heartbeatMs: 600_000 };
  const phone = await telephone(t, rig, { service });
  const other = await rig.start(t, { ...service, databaseUrl: phone.databaseUrl });
  const watcher = await phone.presence();
  const { call_id: callId } = phone.line.ring();
  await until('ringing', () => watcher.texts.length === 1);
  const client = await phone.stream(callId);
  const elsewhere = new WebSocket(`${other.url.replace('http', 'ws')}/voice/presence/${phone.number}`, {
    headers: phone.headers,
  });
  let closedElsewhere: number | undefined;
  elsewhere.on('close', (code) => {
    closedElsewhere = code;
  });
  await until('open', () => elsewhere.readyState === WebSocket.OPEN);
  t.equal((await recoverToken(phone.url, ALICE.privateKey)).status, 200);
  t.same([await watcher.closed(), await client.closed()], [4401, 4401]);
  await until('elsewhere', () => closedElsewhere === 4401);
  t.equal(phone.node.commands('hang_up').length, 0, 'the new token may take the call over');
});

t.test('a client that sends more than a listener has to say is cut off', async (t) => {
  const phone = await telephone(t, rig);
  const { call_id: callId } = phone.line.ring();
  const quiet = await phone.presence();
  const floods: Array<(socket: WebSocket) => void> = [
    (socket) => socket.send('{}'),
    (socket) => socket.ping(),
    (socket) => socket.pong(),
  ];
  for (const flood of floods) {
    const { socket } = await phone.presence();
    for (let frame = 0; frame < 1_000; frame += 1) flood(socket);
    await until('the end', () => socket.readyState === WebSocket.CLOSED);
  }
  const stream = await phone.stream(callId);
  for (let frame = 0; frame < 1_000; frame += 1) stream.socket.pong();
  await until('the end', () => stream.socket.readyState === WebSocket.CLOSED);
  t.equal(quiet.socket.readyState, WebSocket.OPEN);
});

t.test('a token that is replaced without an event closes its sockets, too', async (t) => {
  const phone = await telephone(t, rig);
  const other = await rig.start(t, { databaseUrl: phone.databaseUrl });
  const elsewhere = telephoneClient(t, { ...phone, url: other.url });
  const watchers = await Promise.all([phone.presence(), elsewhere.presence()]);
  const db = await openTestDatabase(t, phone.databaseUrl);
  const { subscriptionId } = phone;
  await replaceTokens(db, { hash: hashToken(mintToken()), subscriptionId, now: new Date() });
  const closed = watchers.map((watcher) => watcher.closed());
  t.same(await Promise.all(closed), [4401, 4401]);
});

t.test('a year that ends closes the sockets within a second', async (t) => {
  const clock = new ManualClock();
  const phone = await telephone(t, rig, { service: { clock, heartbeatMs: 600_000 } });
  const db = await openTestDatabase(t, phone.databaseUrl);
  await db
    .updateTable('subscriptions')
    .set({ expires_at: new Date(clock.now() + 2_000) })
    .execute();
  const watcher = await phone.presence();
  clock.advance(1_999);
  await watcher.isRead();
  t.equal(watcher.closeCode, undefined);
  clock.advance(1_000);
  const closed = await until('it is closed', () => {
    // For a check that was set meanwhile.
    clock.advance(0);
    return watcher.closeCode;
  });
  t.equal(closed, 4401);
});

const skip = ofOneInstance('each counts the sockets of a token by itself');
t.test('a token has only so many sockets', { skip }, async (t) => {
  const { presence, url, headers, number } = await telephone(t, rig, { service: { socketsPerToken: 3 } });
  const open = await Promise.all([presence(), presence(), presence()]);
  t.match(await refusedUpgrade(url, `/voice/presence/${number}`, headers), {
    status: 429,
    body: { error: 'rate_limited' },
  });
  open[0].drop();
  await until('one more', () =>
    presence().then(
      () => true,
      () => false,
    ),
  );
});

t.test('a slow reader is cut off, and the others hear all', async (t) => {
  const { presence, live } = scriptedPresence();
  const [slow, quick] = [new StubSocket(), new StubSocket()];
  for (const socket of [slow, quick]) presence.add(socket.asWebSocket(), { id: 'sub_1' } as Subscription);
  live.change(ringing('call_1'));
  slow.bufferedAmount = 70_000;
  live.change(ringing('call_2'));
  live.change(ringing('call_2'));
  t.same([slow.sent.length, slow.isTerminated], [1, true]);
  t.same([quick.sent.length, quick.isTerminated], [2, false], 'and nothing twice');
});

t.test('an event that arrives after the end of its call is not sent', async (t) => {
  const { presence, bus, live } = scriptedPresence();
  const socket = new StubSocket();
  presence.add(socket.asWebSocket(), { id: 'sub_1' } as Subscription);
  const { state: _, ...call } = ringing('call_1');
  bus.publish({
    kind: 'call_ended',
    call: { ...call, endedAt: new Date(), reason: 'cancelled', cause: CAUSE.normalClearing },
  });
  live.change(ringing('call_1'));
  live.change({ ...ringing('call_1'), state: 'active' });
  t.same(
    socket.sent.map((sent) => JSON.parse(String(sent)).kind),
    ['ended'],
  );
});

t.test('another instance reports calls whose node has its link here', async (t) => {
  const phone = await telephone(t, rig);
  const other = await rig.start(t, { databaseUrl: phone.databaseUrl });
  const open = async () => {
    const texts: Array<Record<string, unknown>> = [];
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}/voice/presence/${phone.number}`, {
      headers: phone.headers,
    });
    socket.on('message', (data) => texts.push(JSON.parse(String(data))));
    t.teardown(() => socket.terminate());
    await until('open', () => socket.readyState === WebSocket.OPEN);
    return texts;
  };
  const first = await open();
  const call = phone.line.ring();
  await until('ringing', () => first.length === 1);
  t.match(first, [{ kind: 'ringing', call_id: call.call_id, at: call.started_at }]);
  const second = await open();
  await until('replayed', () => second.length === 1);
  phone.line.end(call, { reason: 'cancelled', cause: 16 });
  await until('ended', () => first.length === 2 && second.length === 2);
  t.match(first[1], { kind: 'ended', reason: 'cancelled', duration_ms: 0 });
});

t.test(
  'an unknown parameter of a WebSocket is refused by name; protocols of other services are tolerant',
  async (t) => {
    const { url, headers, number } = await telephone(t, rig);
    const streams = '/voice/stream/call_none';
    t.match(await refusedUpgrade(url, `${streams}?protocl=twilio`, headers), {
      status: 400,
      body: { error: 'invalid_request', field: 'protocl', suggestion: 'protocol' },
    });
    t.match(await refusedUpgrade(url, `/voice/presence/${number}?since=1`, headers), {
      status: 400,
      body: { error: 'invalid_request', field: 'since', message: /^"since" is not a field of this request/ },
    });
    for (const query of ['?protocol=twilio&room=1', '?protocol=vonage&room=1', '?protocol=raw', '?'])
      t.equal((await refusedUpgrade(url, streams + query, {})).status, 401, query);
  },
);
