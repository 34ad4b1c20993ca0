// The server's half of the control link: who may connect, what it refuses, heartbeat, take-over.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import WebSocket from 'ws';
import { LINK_CLOSE } from '#shared/link/close.ts';
import { LINK_FRAME_BYTES_MAX } from '#shared/link/version.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { linkNode, openLinkSocket, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const MINUTE_MS = 60_000;
const BEAT_MS = 10_000;

const open = (url: string): Promise<WebSocket> => openLinkSocket(url, { nodeId: 'odd' });

const closeCode = async (socket: WebSocket): Promise<number> => (await once(socket, 'close'))[0];

const hello = (change: object = {}) =>
  JSON.stringify({
    type: 'hello',
    version_min: 1,
    version_max: 1,
    journal_id: 'journal-1',
    oldest_sequence: 0,
    slots: [],
    ...change,
  });

const UNREADABLE = {
  kind: 'sms_unreadable',
  iccid: '8901000000000000001',
  pdu: '00',
  reason: 'x',
  received_at: new Date().toISOString(),
};

const fact = (sequence: number, content: object = UNREADABLE) =>
  JSON.stringify({ type: 'fact', sequence, fact: content });

t.test('an invalid, early or missing frame, or no common version, ends the link with its code', async (t) => {
  const { url } = await rig.start(t);
  const cases: Array<[name: string, frames: Array<string | Buffer>, code: number]> = [
    ['not JSON', ['hello'], LINK_CLOSE.protocolError],
    ['an unknown type', ['{"type":"party"}'], LINK_CLOSE.protocolError],
    ['binary', [Buffer.from([1, 2, 3])], LINK_CLOSE.protocolError],
    ['a fact before hello', [fact(1)], LINK_CLOSE.protocolError],
    ['two hellos', [hello(), hello()], LINK_CLOSE.protocolError],
    ['a gap in the facts', [hello({ oldest_sequence: 1 }), fact(1), fact(3)], LINK_CLOSE.protocolError],
    ['a bad SIM', [hello({ slots: [{ ...slotAt(1), iccid: '12' }] })], LINK_CLOSE.protocolError],
    ['only newer versions', [hello({ version_min: 4, version_max: 9 })], LINK_CLOSE.versionUnsupported],
    ['a frame over the limit', ['x'.repeat(LINK_FRAME_BYTES_MAX + 1)], 1009],
  ];
  for (const [name, frames, code] of cases) {
    const socket = await open(url);
    const closed = closeCode(socket);
    for (const [index, frame] of frames.entries()) {
      // The second of a pair is sent when the first was answered.
      if (index > 0) await once(socket, 'message');
      socket.send(frame);
    }
    t.equal(await closed, code, name);
  }
  t.equal((await fetch(`${url}/availability`)).status, 200, 'and the service goes on');
});

t.test('a node that keeps no fact goes on at its own number, beyond what this database knows', async (t) => {
  const { url } = await rig.start(t);
  const socket = await open(url);
  socket.send(hello());
  await once(socket, 'message');
  for (const sequence of [11, 12]) {
    socket.send(fact(sequence));
    const [ack] = await once(socket, 'message');
    t.same(JSON.parse(String(ack)), { type: 'ack', sequence });
  }
  const closed = closeCode(socket);
  socket.send(fact(14));
  t.equal(await closed, LINK_CLOSE.protocolError, 'but leaves no gap after that');
});

t.test('facts begin where the node still has them', async (t) => {
  const { url } = await rig.start(t);
  const socket = await open(url);
  socket.send(hello({ oldest_sequence: 5 }));
  await once(socket, 'message');
  socket.send(fact(5));
  const [ack] = await once(socket, 'message');
  t.same(JSON.parse(String(ack)), { type: 'ack', sequence: 5 });
  socket.terminate();
});

t.test('a node that answers no heartbeat is disconnected, and its numbers leave the pool', async (t) => {
  const answers: Array<[name: string, answer: (socket: WebSocket) => void]> = [
    ['silence', () => undefined],
    ['pongs for pings that it has not read', (socket) => WebSocket.prototype.pong.call(socket, randomUUID())],
  ];
  for (const [name, answer] of answers) {
    const clock = new ManualClock();
    const { url, service } = await rig.start(t, { clock, heartbeatMs: MINUTE_MS });
    const socket = await open(url);
    socket.pong = () => undefined;
    const { _receiver: receiver } = socket as unknown as { _receiver: NodeJS.EventEmitter };
    receiver.removeAllListeners('ping');
    socket.send(hello({ slots: [slotAt(1)] }));
    await until('its number is on sale', async () => (await availableAt(url)) === 1);
    let code: number | undefined;
    socket.once('close', (closed: number) => {
      code = closed;
    });
    await until('it is disconnected', () => {
      clock.advance(MINUTE_MS);
      if (code === undefined) answer(socket);
      return code !== undefined;
    });
    t.equal(code, 1006, name);
    await until('its number has left the pool', async () => (await availableAt(url)) === 0);
    await service.stop();
  }
});

t.test('while a node that floods is read late, its pongs are not missed; afterwards they are', async (t) => {
  for (const isSilent of [false, true]) {
    const clock = new ManualClock();
    const { url, databaseUrl, service } = await rig.start(t, { clock, heartbeatMs: BEAT_MS });
    const db = await openTestDatabase(t, databaseUrl);
    const socket = await open(url);
    let pings = 0;
    let code: number | undefined;
    socket.on('ping', () => (pings += 1));
    socket.once('close', (closed: number) => (code = closed));
    if (isSilent) socket.pong = () => undefined;
    socket.send(hello({ slots: [slotAt(1)] }));
    await until('its number is on sale', async () => (await availableAt(url)) === 1);
    // Above the characters of one SIM, by three minutes.
    for (let sequence = 1; sequence <= 102; sequence += 1)
      socket.send(fact(sequence, { ...received('x'.repeat(39_000)), iccid: slotAt(1).iccid }));
    const isRead = () => db.selectFrom('node_refusals').selectAll().executeTakeFirst();
    await until('it is read late', async () => (await isRead()) !== undefined);
    const beat = async () => {
      const before = pings;
      clock.advance(BEAT_MS);
      await until('the ping', () => pings > before || code !== undefined);
      return availableAt(url);
    };
    for (let count = 0; count < 9; count += 1) await beat();
    t.equal(code, undefined, 'its link stays');
    if (isSilent) await until('its link ends', async () => (await beat()) === 0 && code !== undefined);
    else for (let count = 0; count < 30; count += 1) await beat();
    t.equal(code, isSilent ? 1006 : undefined);
    await until('the numbers on sale', async () => (await availableAt(url)) === (isSilent ? 0 : 1));
    socket.terminate();
    await service.stop();
  }
});

t.test('a newer link of the same node takes over', async (t) => {
  const { url } = await rig.start(t);
  const older = await rig.connect(t, url, { nodeId: 'twin' });
  await rig.connect(t, url, { nodeId: 'twin' });
  await until('the older one is closed', () => older.closeCode === LINK_CLOSE.replaced);
  t.equal(await availableAt(url), 1, 'and the numbers stay');
});

t.test(
  'a SIM that moves to another node takes its number with it; one number is never two SIMs',
  async (t) => {
    const { url, databaseUrl } = await rig.start(t);
    const db = await openTestDatabase(t, databaseUrl);
    const first = await rig.connect(t, url, { nodeId: 'first' });
    const second = await linkNode(t, url, { nodeId: 'second', slots: [slotAt(1), slotAt(2)] });
    await until('two numbers', async () => (await availableAt(url)) === 2);
    const empty = slotAt(1, { state: 'sim_absent', iccid: null, number: null });
    first.send({ type: 'slots', slots: [empty], alarms: [] });
    const ofSecond = () => db.selectFrom('sims').select('iccid').where('node_id', '=', 'second').execute();
    await until('it has both', async () => (await ofSecond()).length === 2);
    await first.drop();
    t.equal(await availableAt(url), 2);
    second.send({
      type: 'slots',
      slots: [slotAt(1), slotAt(2), slotAt(3, { number: slotAt(1).number })],
      alarms: [],
    });
    second.send({
      type: 'slots',
      slots: [slotAt(1), slotAt(2), slotAt(3, { number: slotAt(1).number }), slotAt(4)],
      alarms: [],
    });
    await until('the third number', async () => (await availableAt(url)) === 3);
  },
);

t.test('numbers are on sale only while their SIM is registered', async (t) => {
  const { url } = await rig.start(t);
  const node = await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  await until('both', async () => (await availableAt(url)) === 2);
  for (const state of ['searching', 'denied', 'sim_locked', 'lost'] as const) {
    node.send({ type: 'slots', slots: [slotAt(1), slotAt(2, { state })], alarms: [] });
    await until(state, async () => (await availableAt(url)) === 1);
    node.send({ type: 'slots', slots: [slotAt(1), slotAt(2)], alarms: [] });
    await until('both again', async () => (await availableAt(url)) === 2);
  }
});

t.test('a node that lost a modem does not take its SIM back from the node that has it now', async (t) => {
  const { url } = await rig.start(t);
  const first = await rig.connect(t, url, { nodeId: 'first' });
  first.send({ type: 'slots', slots: [slotAt(1, { state: 'lost' })], alarms: [] });
  await until('lost', async () => (await availableAt(url)) === 0);
  await linkNode(t, url, { nodeId: 'second', slots: [slotAt(1)] });
  await until('found', async () => (await availableAt(url)) === 1);
  first.send({ type: 'slots', slots: [slotAt(1, { state: 'lost' }), slotAt(2)], alarms: [] });
  await until('its other SIM', async () => (await availableAt(url)) === 2);
});

const storeOf = async (t: Test, databaseUrl: string) => {
  const db = await openTestDatabase(t, databaseUrl);
  return db;
};

t.test('alarms and slots are kept as last reported, events in their order and in bounds', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const db = await storeOf(t, databaseUrl);
  const node = await linkNode(t, url, { nodeId: 'lab', alarms: ['journal_unavailable'] });
  const alarms = async () => (await db.selectFrom('nodes').select('alarms').executeTakeFirst())?.alarms;
  await until('the alarm', async () => (await alarms())?.[0] === 'journal_unavailable');
  node.send({ type: 'slots', slots: [slotAt(1, { model: 'EC25\u0000', reason: 'sim_puk' })], alarms: [] });
  await until('no alarm', async () => (await alarms())?.length === 0);
  const sim = () => db.selectFrom('sims').select(['model', 'reason']).executeTakeFirst();
  await until('the slot', async () => (await sim())?.reason === 'sim_puk');
  t.match(await sim(), { model: 'EC25\ufffd' });
  const at = '2026-11-21T08:00:00.000Z';
  const reported = 1_200;
  for (let n = 1; n <= reported; n += 1) {
    node.send({ type: 'event', event: { slot: 'm1', kind: 'recovery_step', detail: `step ${n}`, at } });
    // As fast as a rack could ever report them, not as fast as a loop can.
    if (n % 100 === 0) await until('they are kept', async () => (await newest()) === `step ${n}`);
  }
  async function newest() {
    const row = await db.selectFrom('node_events').select('detail').orderBy('id', 'desc').executeTakeFirst();
    return row?.detail;
  }
  const all = () => db.selectFrom('node_events').selectAll().orderBy('id').execute();
  await until('the oldest are forgotten', async () => (await all()).length === 1_000);
  const kept = await all();
  t.match(kept[0], { node_id: 'lab', slot: 'm1', kind: 'recovery_step', detail: `step ${reported - 999}` });
  t.equal(node.closeCode, undefined);
});

t.test('messages for an unassigned number are counted', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const db = await storeOf(t, databaseUrl);
  const node = await rig.connect(t, url, { journalId: 'journal-1' });
  for (const sequence of [1, 2, 3]) {
    node.sendFact(sequence, {
      kind: 'sms_received',
      iccid: String(slotAt(1).iccid),
      from: '+13105550188',
      body: 'anyone?',
      sent_at: null,
      received_at: new Date().toISOString(),
      partial: false,
    });
  }
  await until('their acknowledgement', () => node.acknowledged === 3);
  t.match(await db.selectFrom('nodes').select('unheld_messages').execute(), [{ unheld_messages: 3 }]);
});
