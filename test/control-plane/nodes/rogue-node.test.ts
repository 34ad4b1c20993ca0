// One stolen node key: a rogue node beside an honest one tries everything, and gets, learns and forges nothing.
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { openOperator } from '#control-plane/operator/open-operator.ts';
import { openDatabase } from '#control-plane/store/database.ts';
import type { FactOf, Slot } from '#shared/link/messages.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { heard, tell } from '../../fixtures/heard.ts';
import { createRig } from '../../fixtures/rig.ts';
import { acceptAll, ScriptedNode, type ScriptedNodeOptions, slotAt } from '../../fixtures/scripted-node.ts';
import { received, SLOT, subscriber } from '../../fixtures/subscriber.ts';
import { telephoneClient } from '../../fixtures/telephone.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const TEXT = { to: '+13105550188', body: 'for the far end only' };
const VICTIM = String(SLOT.iccid);
const GUESSES = 200;
const FAST = { heartbeatMs: 100 };

/** A slot of the rogue that reports the SIM and the number of another one. */
const claimOf = (index: number, change: Partial<Slot> = {}): Slot =>
  slotAt(index, { slot: `r${index}`, device_id: null, ...change });

const guesses = (): Slot[] => Array.from({ length: GUESSES }, (_, index) => claimOf(index + 1));

const EMPTY = { iccid: null, number: null, state: 'sim_absent' } as const;

async function rogueOf(t: Test, url: string, options: ScriptedNodeOptions = {}): Promise<ScriptedNode> {
  const rogue = await ScriptedNode.connect(url, { nodeId: 'rogue', slots: guesses(), ...options });
  t.teardown(() => rogue.drop());
  return rogue;
}

/** A victim with the SIMs of slots 1 to 8, the first of them sold; what a test of the rogue looks at. */
async function setUp(
  t: Test,
  options: ScriptedNodeOptions & { service?: Parameters<typeof rig.start>[1] } = {},
) {
  const slots = Array.from({ length: 8 }, (_, index) => slotAt(index + 1));
  const parts = await subscriber(t, rig, { nodeId: 'honest', slots, ...options });
  const { db, close } = await openDatabase({ url: parts.databaseUrl, connectionsMax: 1 });
  t.teardown(close);
  const operator = await openOperator({
    databaseUrl: parts.databaseUrl,
    dataDir: '/nonexistent',
    url: parts.url,
  });
  t.teardown(() => operator.close());
  const listed = async (name: string) => (await operator.registry.list()).find((node) => node.name === name);
  const isBound = async (nodeId: string) => {
    const row = await db
      .selectFrom('sims')
      .select(['node_id', 'bound_to'])
      .where('iccid', '=', VICTIM)
      .executeTakeFirst();
    return row?.node_id === nodeId && row.bound_to !== null;
  };
  const holds = (nodeId: string) => until(`${nodeId} serves the SIM`, () => isBound(nodeId));
  await holds('honest');
  return { ...parts, db, operator, listed, holds };
}

t.test('200 guessed ICCIDs bring the rogue nothing, and show nothing', async (t) => {
  const { url, node, send, history, listed, db } = await setUp(t, { service: FAST });
  const rogue = await rogueOf(t, url);
  await heard(rogue, 1);
  const texts = await Promise.all(Array.from({ length: 5 }, () => send(TEXT)));
  t.same(new Set(texts.map(({ status }) => status)), new Set([200]));
  t.equal(node.commands('send_sms').length, 5, 'all by the honest node');
  t.equal((await history()).length, 5);
  // Its next beats ask for what is unbound, if anything.
  const beats = node.frames.length;
  tell(rogue, ...guesses().map((slot) => ({ ...slot, signal_dbm: -60 })));
  await heard(rogue, 2);
  t.ok(node.frames.length >= beats);
  t.same(
    rogue.frames.filter(({ type }) => type === 'command'),
    [],
    'it is asked for nothing',
  );
  const sims = await db.selectFrom('sims').select('iccid').where('node_id', '=', 'rogue').execute();
  t.same(sims, [], 'a node that claims so many takes nothing at all');
  t.match(await listed('rogue'), { is_suspended: true, refused: { claims: Number } });
  t.match(await listed('honest'), { is_suspended: false, refused: {}, sims: 8 });
});

t.test('what it forges of a SIM that it does not hold counts nowhere, and its link goes on', async (t) => {
  const { url, node, send, history, get, headers, number, listed } = await setUp(t);
  const rogue = await rogueOf(t, url);
  const sent = await send(TEXT);
  const commandId = String(sent.body['message_id']).split('.')[0] as string;
  const watcher = await telephoneClient(t, { url, headers, number }).presence();
  const call: LiveCall = {
    ...{ call_id: `in_${randomUUID()}`, iccid: VICTIM, direction: 'inbound', peer: '+13105550199' },
    ...{ state: 'ringing', started_at: new Date().toISOString(), answered_at: null },
  };
  rogue.send({ type: 'call', call });
  rogue.sendFact(1, received('your bank needs your code'));
  rogue.sendFact(2, {
    ...{ kind: 'sms_report', iccid: VICTIM, command_id: commandId, message_reference: 7, recipient: TEXT.to },
    ...{ part: 1, parts: 1, status: 'failed', tp_status: 70, at: new Date().toISOString() },
  });
  rogue.sendFact(3, {
    ...{ kind: 'sms_outcome', command_id: commandId },
    outcome: { status: 'rejected', code: 'cms_50', message: 'forged', at: new Date().toISOString() },
  });
  rogue.sendFact(4, {
    ...{ kind: 'call_ended', call_id: `in_${randomUUID()}`, iccid: VICTIM, direction: 'inbound' },
    ...{ peer: '+13105550199', started_at: new Date().toISOString(), answered_at: null },
    ...{ ended_at: new Date().toISOString(), reason: 'no_answer', cause: 19, audio: null },
  });
  await until('all are acknowledged', () => rogue.acknowledged === 4);
  node.sendFact(1, received('the real one'));
  await until('the real one', async () => (await history()).length === 2);
  const rows = await history();
  t.same(rows.map(({ body }) => body).sort(), [TEXT.body, 'the real one'].sort());
  t.equal(
    rows.find(({ body }) => body === TEXT.body)?.status,
    'queued',
    'no report, no outcome of another node',
  );
  t.same((await get('/voice/calls')).body['calls'], []);
  await until('the call was refused', async () => ((await listed('rogue'))?.refused.calls ?? 0) > 0);
  t.same(watcher.of({ kind: 'ringing' }), [], 'nobody sees it ring');
  t.match((await listed('rogue'))?.refused, { facts: 3, calls: 1 });
});

/** Accepts everything; what is dialled rings. */
const rings: ScriptedNodeOptions['onCommand'] = (command) =>
  command.name === 'dial'
    ? { type: 'result', id: command.id, ok: true, result: { status: 'ringing' } }
    : acceptAll(command);

const ringing = (iccid: string, change: Partial<LiveCall> = {}): LiveCall => ({
  ...{ call_id: `in_${randomUUID()}`, iccid, direction: 'inbound', peer: '+13105550199' },
  ...{ state: 'ringing', started_at: new Date().toISOString(), answered_at: null },
  ...change,
});

t.test('a call never changes its SIM, direction or far end', async (t) => {
  const parts = await setUp(t, { service: FAST, onCommand: rings });
  const { url, db, listed } = parts;
  const own = slotAt(77, { slot: 'r1' });
  const rogue = await rogueOf(t, url, { slots: [own] });
  await heard(rogue, 1);
  const calls = Array.from({ length: 5 }, () => ringing(String(own.iccid)));
  for (const call of calls) {
    rogue.send({ type: 'call', call });
    rogue.send({ type: 'call', call: { ...call, iccid: VICTIM } });
  }
  const stored = () => db.selectFrom('calls').select(['iccid', 'state', 'peer']).execute();
  await until('its calls', async () => (await stored()).length === calls.length);
  t.same(new Set((await stored()).map(({ iccid }) => iccid)), new Set([own.iccid]));
  t.match(await telephoneClient(t, parts).dial(), { status: 200 }, 'the line of the victim is free');

  const [first] = calls as [LiveCall];
  for (const change of [{ iccid: VICTIM }, { direction: 'outbound' }, { peer: '+13105550100' }] as const)
    rogue.send({ type: 'call', call: { ...first, ...change, state: 'active' } });
  const refused = calls.length + 3;
  await until('all were counted', async () => (await listed('rogue'))?.refused.calls === refused);
  t.notOk((await stored()).some(({ iccid, state }) => iccid === own.iccid && state === 'active'));
  // A modem may name the caller only after the call began.
  const unnamed = ringing(String(own.iccid), { peer: null });
  rogue.send({ type: 'call', call: unnamed });
  rogue.send({ type: 'call', call: { ...unnamed, peer: '+13105550199', state: 'active' } });
  await until('it was answered', async () => (await stored()).some(({ state }) => state === 'active'));
  t.equal((await listed('rogue'))?.refused.calls, refused);
});

t.test('a call that a node leaves open when the SIM moves away holds no line', async (t) => {
  const parts = await setUp(t, { service: FAST, onCommand: rings });
  const { url, node, db, holds } = parts;
  node.send({ type: 'call', call: ringing(VICTIM) });
  await until('it is noted', async () => (await db.selectFrom('calls').select('id').execute()).length === 1);
  tell(node, slotAt(1, EMPTY));
  const slots = [slotAt(1, { slot: 'm7' })];
  const other = await ScriptedNode.connect(url, { nodeId: 'other', slots, onCommand: rings });
  t.teardown(() => other.drop());
  await holds('other');
  const { dial } = telephoneClient(t, parts);
  t.match(await dial(), { status: 200 });
  t.equal(other.commands('dial').length, 1);
  t.match(await dial(), { status: 409, body: { error: 'line_busy' } }, 'now it has a call');
});

t.test('an honest move takes a moment, and loses no text on either side of it', async (t) => {
  const { url, node, send, history, holds, listed } = await setUp(t, { service: FAST });
  const other = await ScriptedNode.connect(url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  t.teardown(() => other.drop());
  // The card is in the other rack already, and its former one has not noticed.
  other.sendFact(1, received('read in its new slot'));
  await until('it is acknowledged', () => other.acknowledged === 1);
  t.same(other.commands('bind_sim'), [], 'it is not its yet');
  t.match((await listed('other'))?.unregistered_slots, [{ slot: 'm7', reason: 'claim_refused' }]);
  node.sendFact(1, received('read in its old slot'));
  const rest = Array.from({ length: 7 }, (_, index) => slotAt(index + 2));
  tell(node, slotAt(1, EMPTY), ...rest);
  await holds('other');
  node.sendFact(2, received('late, from its old slot'));
  await until('all texts', async () => (await history()).length === 3);
  t.same((await history()).map(({ body }) => body).sort(), [
    'late, from its old slot',
    'read in its new slot',
    'read in its old slot',
  ]);
  t.equal((await send(TEXT)).status, 200);
  t.equal(other.commands('send_sms').length, 1);
  t.match(await listed('other'), { refused: {}, unregistered_slots: [] }, 'nothing was refused in the end');
});

t.test('what a former holder makes long after the move does not count', async (t) => {
  const { url, node, db, get, history, holds } = await setUp(t, { service: FAST });
  tell(node, slotAt(1, EMPTY));
  const other = await ScriptedNode.connect(url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  t.teardown(() => other.drop());
  await holds('other');
  const hourAgo = new Date(Date.now() - 3_600_000);
  await db
    .updateTable('sim_tenures')
    .set({ since: new Date(hourAgo.getTime() - 3_600_000), until: hourAgo })
    .where('node_id', '=', 'honest')
    .where('iccid', '=', VICTIM)
    .execute();
  node.sendFact(1, received('forged an hour later'));
  const then = hourAgo.toISOString();
  node.sendFact(2, { ...received('it had this then'), received_at: then, sent_at: then });
  // One time of its own tenure, and another of today.
  const now = new Date().toISOString();
  node.sendFact(3, { ...received('sent today'), received_at: hourAgo.toISOString(), sent_at: now });
  node.sendFact(4, {
    ...{ kind: 'call_ended', call_id: `in_${randomUUID()}`, iccid: VICTIM, direction: 'inbound' },
    ...{ peer: '+13105550199', started_at: now, answered_at: null },
    ...{ ended_at: hourAgo.toISOString(), reason: 'no_answer', cause: 19, audio: null },
  });
  await until('all are acknowledged', () => node.acknowledged === 4);
  const waiting = await db.selectFrom('waiting_facts').select('fact').orderBy('position').execute();
  t.match(waiting, [
    { fact: { body: 'forged an hour later' } },
    { fact: { body: 'sent today' } },
    { fact: { kind: 'call_ended' } },
  ]);
  t.same((await get('/voice/calls')).body['calls'], []);
  t.same(
    (await history()).map(({ body }) => body),
    [],
    'and what it had then was of an earlier subscriber',
  );
});

t.test(
  'a call keeps no subscriber from calling: neither one that changes its SIM nor one of a SIM that has left',
  async (t) => {
    const onCommand: NonNullable<ScriptedNodeOptions['onCommand']> = (command) =>
      command.name === 'dial'
        ? { type: 'result', id: command.id, ok: true, result: { status: 'ringing' } }
        : acceptAll(command);
    const { url, node, number, headers, holds, listed } = await setUp(t, { onCommand, service: FAST });
    const call = (iccid: string, callId: string): LiveCall => ({
      ...{ call_id: callId, iccid, direction: 'inbound', peer: '+13105550199' },
      ...{ state: 'ringing', started_at: new Date().toISOString(), answered_at: null },
    });
    const dial = async () => {
      const response = await fetch(`${url}/voice/dial`, {
        ...{ method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } },
        body: JSON.stringify({ phone_number: number, to: TEXT.to }),
      });
      return response.status;
    };
    const own = slotAt(77, { slot: 'r1' });
    const rogue = await rogueOf(t, url, { slots: [own] });
    await heard(rogue, 1);
    const ids = Array.from({ length: 5 }, () => `in_${randomUUID()}`);
    for (const id of ids) {
      rogue.send({ type: 'call', call: call(String(own.iccid), id) });
      rogue.send({ type: 'call', call: call(VICTIM, id) });
    }
    await heard(rogue, 2);
    rogue.send({ type: 'call', call: call(VICTIM, `in_${randomUUID()}`) });
    await until('all were judged', async () => ((await listed('rogue'))?.refused.calls ?? 0) > 0);
    // The holder has a call, and loses the SIM with it.
    node.send({ type: 'call', call: call(VICTIM, `in_${randomUUID()}`) });
    tell(node, slotAt(1, EMPTY));
    const other = await ScriptedNode.connect(url, {
      nodeId: 'other',
      slots: [slotAt(1, { slot: 'm7' })],
      onCommand,
    });
    t.teardown(() => other.drop());
    await holds('other');
    t.equal(await dial(), 200);
  },
);

t.test('who held SIMs once is not suspended for claiming them', async (t) => {
  const eight = Array.from({ length: 8 }, (_, index) => slotAt(index + 1));
  const { url, node, holds, listed } = await setUp(t, { service: FAST });
  tell(node, ...eight.map(({ slot }) => slotAt(Number(slot.slice(1)), EMPTY)));
  const other = await ScriptedNode.connect(url, {
    nodeId: 'other',
    slots: eight.map((each) => ({ ...each, slot: `n${each.slot}` })),
  });
  t.teardown(() => other.drop());
  await holds('other');
  tell(node, ...eight);
  await heard(node, 1);
  await until('its claims are refused', async () => (await listed('honest'))?.refused.claims === 8);
  t.match(await listed('honest'), { is_suspended: false });
  await holds('other');
});

t.test('a former holder dates nothing into the time after it held the SIM', async (t) => {
  const HOUR_MS = 3_600_000;
  const { url, node, db, get, history, holds, listed } = await setUp(t, { service: FAST });
  tell(node, slotAt(1, EMPTY));
  const other = await ScriptedNode.connect(url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  t.teardown(() => other.drop());
  await holds('other');
  const at = (hoursAgo: number): Date => new Date(Date.now() - hoursAgo * HOUR_MS);
  const ago = (hours: number): string => at(hours).toISOString();
  const between = async (since: number, until: number, soldAt: number) => {
    const tenure = db.updateTable('sim_tenures').set({ since: at(since), until: at(until) });
    await tenure.where('node_id', '=', 'honest').where('iccid', '=', VICTIM).execute();
    await db
      .updateTable('subscriptions')
      .set({ created_at: at(soldAt) })
      .execute();
  };
  const text = (body: string, sent: number, read: number) =>
    ({ ...received(body), sent_at: ago(sent), received_at: ago(read) }) as const;
  const call = (started: number, end: number): FactOf<'call_ended'> => ({
    ...{ kind: 'call_ended', call_id: `in_${randomUUID()}`, iccid: VICTIM, direction: 'inbound' },
    ...{ peer: '+13105550199', started_at: ago(started), answered_at: null, ended_at: ago(end) },
    ...{ reason: 'no_answer', cause: 19, audio: null },
  });

  await between(300, 200, 100);
  node.sendFact(1, text('a stamp of now', 0, 201));
  node.sendFact(2, text('a stamp of weeks ahead', -400, 201));
  node.sendFact(3, call(0, 201));
  await until('these are acknowledged', () => node.acknowledged === 3);
  await between(300, 12, 10);
  node.sendFact(4, text('a stamp of another time zone, before the sale', 2, 13));
  await until('all are acknowledged', () => node.acknowledged === 4);
  t.same(
    (await history()).map(({ body }) => body),
    [],
  );
  t.same((await get('/voice/calls')).body['calls'], []);
  t.match((await listed('honest'))?.refused, { facts: 3 });

  await between(300, 12, 100);
  node.sendFact(5, text('as it was', 14, 13));
  node.sendFact(6, text('a stamp of another time zone', 5, 13));
  node.sendFact(7, text('by a clock that was years behind', 13, 40_000));
  node.sendFact(8, call(14, 13));
  node.sendFact(9, call(13, 14));
  await until('all are acknowledged', () => node.acknowledged === 9);
  t.same((await history()).map(({ body }) => body).sort(), [
    'a stamp of another time zone',
    'as it was',
    'by a clock that was years behind',
  ]);
  const calls = (await get('/voice/calls')).body['calls'] as Array<{ started_at: string; ended_at: string }>;
  t.equal(calls.length, 2);
  t.ok(
    calls.every(({ started_at, ended_at }) => started_at <= ended_at),
    'none begins after its end',
  );
});

t.test('a SIM that its holder reports moves by an operator’s word only', async (t) => {
  const { url, node, history, holds, operator } = await setUp(t, { service: FAST });
  const other = await ScriptedNode.connect(url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  t.teardown(() => other.drop());
  other.sendFact(1, received('waits for the operator'));
  await until('it is acknowledged', () => other.acknowledged === 1);
  await t.rejects(
    operator.desk.ask('transferSim', { node: 'other', slot: 'm8' }),
    /reports no SIM of another/,
  );
  const given = await operator.desk.ask('transferSim', { node: 'other', slot: 'm7' });
  t.same(given, { iccid: VICTIM, from: 'honest' });
  await holds('other');
  await until('its text', async () => (await history()).length === 1);
  tell(node, slotAt(1, { signal_dbm: -50 }), slotAt(2));
  await heard(node, 1);
  await holds('other');
});

t.test('a node that is away keeps its SIMs for a while; later it gets them back', async (t) => {
  const service = { ...FAST, handoverWaitMs: 1_000 };
  const { url, node, holds, listed } = await setUp(t, { service });
  await node.drop();
  const rogue = await rogueOf(t, url, { slots: [claimOf(1)] });
  await heard(rogue, 1);
  t.same(rogue.commands('bind_sim'), [], 'not at once');
  t.match(await listed('rogue'), { refused: { claims: 1 }, is_suspended: false });
  await holds('rogue');
  const back = await ScriptedNode.connect(url, { nodeId: 'honest', slots: [slotAt(1)] });
  t.teardown(() => back.drop());
  await holds('honest');
  await until('it is refused again', async () => (await listed('rogue'))?.refused.claims === 1);
});

t.test('the key of a former rack takes no card back that its new node has reported for long', async (t) => {
  const service = { ...FAST, handoverWaitMs: 300 };
  const cards = Array.from({ length: 30 }, (_, index) => slotAt(index + 1));
  const { url, node, db, holds, listed, send, history } = await setUp(t, { slots: cards, service });
  // The rack is off, and its cards are carried to another one.
  await node.drop();
  const honest = await ScriptedNode.connect(url, { nodeId: 'new', slots: cards });
  t.teardown(() => honest.drop());
  await holds('new');
  const hoursAgo = new Date(Date.now() - 20 * 3_600_000);
  await db
    .updateTable('sim_tenures')
    .set({ since: hoursAgo, sighting_since: hoursAgo })
    .where('node_id', '=', 'new')
    .execute();
  await db.updateTable('sim_tenures').set({ until: hoursAgo }).where('node_id', '=', 'honest').execute();
  // A modem that starts anew takes nothing of that away.
  tell(honest, ...cards.map((card) => ({ ...card, state: 'lost' as const })));
  tell(honest, ...cards);
  await heard(honest, 1);
  const thief = await ScriptedNode.connect(url, { nodeId: 'honest', slots: cards });
  t.teardown(() => thief.drop());
  thief.sendFact(1, received('forged'));
  await until('it was heard', () => thief.acknowledged === 1);
  t.equal((await send(TEXT)).status, 200);
  t.same(thief.commands('send_sms'), []);
  t.same(thief.commands('bind_sim'), []);
  t.equal(honest.commands('send_sms').length, 1);
  t.same(
    (await history()).map(({ body }) => body),
    [TEXT.body],
  );
  t.match(await listed('new'), { sims: 30, is_suspended: false });
  t.match(await listed('honest'), { sims: 0, is_suspended: false, refused: { claims: 30 } });
});

t.test('a claim that was contested gets nothing when the modem of the holder is lost', async (t) => {
  const { url, node, send, holds } = await setUp(t, { service: FAST });
  const rogue = await rogueOf(t, url, { slots: [claimOf(1)] });
  await heard(rogue, 1);
  tell(node, slotAt(1, { state: 'lost' }));
  await heard(node, 1);
  tell(rogue, claimOf(1, { signal_dbm: -40 }));
  await heard(rogue, 2);
  t.same(rogue.commands('bind_sim'), []);
  // A daemon that starts anew does not know its SIM yet.
  tell(node, slotAt(1, { state: 'starting', iccid: null, number: null }));
  await heard(node, 2);
  tell(rogue, claimOf(1, { signal_dbm: -50 }));
  await heard(rogue, 3);
  tell(node, slotAt(1));
  await holds('honest');
  t.equal((await send(TEXT)).status, 200);
  t.same(rogue.commands('send_sms'), []);
});

t.test('a number that is no US mobile number is never sold', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const operator = await openOperator({ databaseUrl, dataDir: '/nonexistent', url });
  t.teardown(() => operator.close());
  const numbers = ['+10000000000', '+18005550100', '+19005550100', '+447700900123', '+16135550100'];
  const slots = numbers.map((number, index) => claimOf(index + 1, { number }));
  const rogue = await rogueOf(t, url, { slots });
  await heard(rogue, 1);
  t.match(await (await fetch(`${url}/availability`)).json(), { available: 0 });
  t.match((await operator.desk.ask('numbers', { limit: 10 })).rows, []);
  t.match(await operator.registry.list(), [{ name: 'rogue', refused: { numbers: numbers.length } }]);
  await t.rejects(
    operator.desk.ask('importNumbers', { rows: [{ line: 1, number: '+10000000000', iccid: VICTIM }] }),
    /line 1: \+10000000000 is not a US mobile number/,
  );
});
