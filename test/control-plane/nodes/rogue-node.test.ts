// One stolen node key: a rogue node beside an honest one tries everything, and gets, learns and forges nothing.
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { NODES } from '#control-plane/operator/listings/nodes.ts';
import { tableOf } from '#shared/operator/listing.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { telephoneClient } from '../../fixtures/agents/telephone.ts';
import { identityOf } from '../../fixtures/nodes/enrolled-node.ts';
import { heard, report } from '../../fixtures/nodes/heard.ts';
import {
  claimOf,
  EMPTY,
  FAST,
  guesses,
  honestNode,
  rogueOf,
  TEXT,
  VICTIM,
} from '../../fixtures/nodes/honest-node.ts';
import { acceptAll, linkNode, type ScriptedNodeOptions, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('200 guessed ICCIDs bring the rogue nothing, and show nothing', async (t) => {
  const { url, node, send, history, listed, db } = await honestNode(t, rig, { service: FAST });
  const rogue = await rogueOf(t, url);
  await heard(rogue);
  const texts = await Promise.all(Array.from({ length: 5 }, () => send(TEXT)));
  t.same(new Set(texts.map(({ status }) => status)), new Set([200]));
  t.equal(node.commands('send_sms').length, 5, 'all by the honest node');
  t.equal((await history()).length, 5);
  // Its next beats ask for what is unbound, if anything.
  const beats = node.frames.length;
  report(rogue, ...guesses(200).map((slot) => ({ ...slot, signal_dbm: -60 })));
  await heard(rogue);
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

t.test("forged facts about a SIM of another node count nowhere, and the rogue's link goes on", async (t) => {
  const { url, node, send, history, get, headers, number, listed } = await honestNode(t, rig);
  const rogue = await rogueOf(t, url);
  const sent = await send(TEXT);
  const commandId = String(sent.body['message_id']).split('.')[0] as string;
  const watcher = await telephoneClient(t, { url, headers, number }).presence();
  const call: LiveCall = {
    call_id: `in_${randomUUID()}`,
    iccid: VICTIM,
    direction: 'inbound',
    peer: '+13105550199',
    state: 'ringing',
    started_at: new Date().toISOString(),
    answered_at: null,
  };
  rogue.send({ type: 'call', call });
  await rogue.report(
    received('your bank needs your code'),
    {
      kind: 'sms_report',
      iccid: VICTIM,
      command_id: commandId,
      message_reference: 7,
      recipient: TEXT.to,
      part: 1,
      parts: 1,
      status: 'failed',
      tp_status: 70,
      at: new Date().toISOString(),
    },
    {
      kind: 'sms_outcome',
      command_id: commandId,
      outcome: { status: 'rejected', code: 'cms_50', message: 'forged', at: new Date().toISOString() },
    },
    {
      kind: 'call_ended',
      call_id: `in_${randomUUID()}`,
      iccid: VICTIM,
      direction: 'inbound',
      peer: '+13105550199',
      started_at: new Date().toISOString(),
      answered_at: null,
      ended_at: new Date().toISOString(),
      reason: 'no_answer',
      cause: 19,
      audio: null,
    },
  );
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
  t.same(watcher.of({ kind: 'ringing' }), [], 'no client sees it ring');
  t.match((await listed('rogue'))?.refused, { facts: 3, calls: 1 });
});

/** Accepts everything; what is dialed rings. */
const rings: ScriptedNodeOptions['onCommand'] = (command) =>
  command.name === 'dial'
    ? { type: 'result', id: command.id, ok: true, result: { status: 'ringing' } }
    : acceptAll(command);

const ringing = (iccid: string, change: Partial<LiveCall> = {}): LiveCall => ({
  call_id: `in_${randomUUID()}`,
  iccid,
  direction: 'inbound',
  peer: '+13105550199',
  state: 'ringing',
  started_at: new Date().toISOString(),
  answered_at: null,
  ...change,
});

t.test('a call never changes its SIM, direction or far end', async (t) => {
  const parts = await honestNode(t, rig, { service: FAST, onCommand: rings });
  const { url, db, listed } = parts;
  const own = slotAt(77, { slot: 'r1' });
  const rogue = await rogueOf(t, url, { slots: [own] });
  await heard(rogue);
  const calls = [ringing(String(own.iccid))];
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
  const parts = await honestNode(t, rig, { service: FAST, onCommand: rings });
  const { url, node, db, holds } = parts;
  node.send({ type: 'call', call: ringing(VICTIM) });
  await until('it is noted', async () => (await db.selectFrom('calls').select('id').execute()).length === 1);
  report(node, slotAt(1, EMPTY));
  const slots = [slotAt(1, { slot: 'm7' })];
  const other = await linkNode(t, url, { nodeId: 'other', slots, onCommand: rings });
  await holds('other');
  const { dial } = telephoneClient(t, parts);
  t.match(await dial(), { status: 200 });
  t.equal(other.commands('dial').length, 1);
  t.match(await dial(), { status: 409, body: { error: 'line_busy' } }, 'now it has a call');
});

t.test('a SIM that its holder reports moves only by an operator’s command', async (t) => {
  const { url, node, history, holds, operator } = await honestNode(t, rig, { service: FAST });
  const other = await linkNode(t, url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  await other.report(received('waits for the operator'));
  await t.rejects(operator.call('transferSim', { node: 'other', slot: 'm8' }), /reports no SIM of another/);
  const seen = { node: 'other', slot: 'm7', expected: String(slotAt(2).iccid) };
  await t.rejects(
    operator.call('transferSim', seen),
    /reports another SIM now/,
    'not the one that was shown',
  );
  const given = await operator.call('transferSim', { ...seen, expected: VICTIM });
  t.same(given, { iccid: VICTIM, from: 'honest' });
  await holds('other');
  await until('its text', async () => (await history()).length === 1);
  report(node, slotAt(1, { signal_dbm: -50 }), slotAt(2));
  await heard(node);
  await holds('other');
});

t.test('a node that is away keeps its SIMs for a while; later it gets them back', async (t) => {
  const service = { ...FAST, handoverWaitMs: 3_000 };
  const { url, node, holds, listed } = await honestNode(t, rig, { service });
  // Enrolled before: that takes a part of the wait.
  await identityOf(url, 'rogue');
  await node.drop();
  const rogue = await rogueOf(t, url, { slots: [claimOf(1)] });
  await heard(rogue);
  t.same(rogue.commands('bind_sim'), [], 'not at once');
  t.match(await listed('rogue'), { refused: { claims: 1 }, is_suspended: false });
  await holds('rogue');
  await linkNode(t, url, { nodeId: 'honest', slots: [slotAt(1)] });
  await holds('honest');
  await until('it is refused again', async () => (await listed('rogue'))?.refused.claims === 1);
});

t.test(
  'a rogue that gives moved SIMs up and claims them again gets no more of them, and hides no move',
  async (t) => {
    const service = { ...FAST, handoverWaitMs: 300 };
    const cards = Array.from({ length: 12 }, (_, index) => slotAt(index + 1));
    const { url, node, db, holds, listed } = await honestNode(t, rig, { slots: cards, service });
    await node.drop();
    const some = Array.from({ length: 8 }, (_, index) => claimOf(index + 1));
    const rogue = await rogueOf(t, url, { slots: some });
    await holds('rogue');
    for (let round = 0; round < 10; round += 1) {
      report(rogue, ...some.map((slot) => ({ ...slot, ...EMPTY })));
      await heard(rogue);
      await until('it has none', async () => (await listed('rogue'))?.sims === 0);
      report(rogue, ...some);
      await until('it has them again', async () => (await listed('rogue'))?.sims === 8);
    }
    const moved = await db
      .selectFrom('sim_tenures')
      .select('moved_from')
      .where('until', 'is', null)
      .where('node_id', '=', 'rogue')
      .execute();
    t.same(moved, Array(8).fill({ moved_from: 'honest' }));
    report(rogue, ...Array.from({ length: 9 }, (_, index) => claimOf(index + 1)));
    await until('one more is too many', async () => (await listed('rogue'))?.is_suspended === true);
  },
);

t.test('the key of a former rack takes back no card that its new node has for long', async (t) => {
  const service = { ...FAST, handoverWaitMs: 300 };
  const cards = Array.from({ length: 30 }, (_, index) => slotAt(index + 1));
  const { url, node, db, holds, listed, operator, send, history } = await honestNode(t, rig, {
    slots: cards,
    service,
  });
  // The rack is off, and its cards are carried to another one.
  await node.drop();
  const honest = await linkNode(t, url, { nodeId: 'new', slots: cards });
  await until('it gets none of so many', async () => (await listed('new'))?.is_suspended === true);
  t.match(await listed('new'), { sims: 0, refused: { claims: 30 } });
  await operator.call('approveNode', { node: 'new' });
  await holds('new');
  const hoursAgo = new Date(Date.now() - 20 * 3_600_000);
  await db
    .updateTable('sim_tenures')
    .set({ since: hoursAgo, sighting_since: hoursAgo })
    .where('node_id', '=', 'new')
    .execute();
  await db.updateTable('sim_tenures').set({ until: hoursAgo }).where('node_id', '=', 'honest').execute();
  // A modem that restarts takes nothing of that away.
  report(honest, ...cards.map((card) => ({ ...card, state: 'lost' as const })));
  report(honest, ...cards);
  await heard(honest);
  const thief = await linkNode(t, url, { nodeId: 'honest', slots: cards });
  await thief.report(received('forged'));
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
  const { url, node, send, holds } = await honestNode(t, rig, { service: FAST });
  const rogue = await rogueOf(t, url, { slots: [claimOf(1)] });
  await heard(rogue);
  report(node, slotAt(1, { state: 'lost' }));
  await heard(node);
  report(rogue, claimOf(1, { signal_dbm: -40 }));
  await heard(rogue);
  t.same(rogue.commands('bind_sim'), []);
  // A daemon that restarts does not know its SIM yet.
  report(node, slotAt(1, { state: 'starting', iccid: null, number: null }));
  await heard(node);
  report(rogue, claimOf(1, { signal_dbm: -50 }));
  await heard(rogue);
  report(node, slotAt(1));
  await holds('honest');
  t.equal((await send(TEXT)).status, 200);
  t.same(rogue.commands('send_sms'), []);
});

t.test('a number that is no US mobile number is never sold', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const operator = await openTestOperator(t, { databaseUrl, url });
  const numbers = ['+10000000000', '+18005550100', '+19005550100', '+447700900123', '+16135550100'];
  const slots = numbers.map((number, index) => claimOf(index + 1, { number }));
  const rogue = await rogueOf(t, url, { slots });
  await heard(rogue);
  t.equal(await availableAt(url), 0);
  t.match((await operator.call('numbers', { limit: 10 })).rows, []);
  const listed = await operator.call('nodes', {});
  t.match(listed, [{ name: 'rogue', refused: { numbers: numbers.length } }]);
  t.match(
    tableOf(NODES.columns, listed, { isFull: false, nowMs: 0 }),
    /refused: 5 numbers \(not US mobile, or already on another SIM\), last refused at 20\d\d-\d\d-\d\d \d\d:\d\dZ/,
  );
  await t.rejects(
    operator.call('importNumbers', { rows: [{ line: 1, number: '+10000000000', iccid: VICTIM }] }),
    /line 1: \+10000000000 is not a US mobile number/,
  );
});
