// A node that floods its link: it is read at the pace of a rack, and nothing that it sent is lost.
import { randomUUID } from 'node:crypto';
import t from 'tap';
import {
  FRAME_BURST,
  FRAMES_PER_SECOND,
  FrameLimiter,
  factBudgets,
  frameBudgets,
} from '#control-plane/nodes/frame-limiter.ts';
import { setAcknowledged } from '#control-plane/store/fleet/node-links.ts';
import { encodeFrame, parseNodeFrame } from '#shared/link/frame.ts';
import { type Fact, MODEM_FACTS, type SlotEvent } from '#shared/link/messages.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { honestNode, rogueOf, TEXT } from '../../fixtures/nodes/honest-node.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** The longest fact of one PDU. 3GPP TS 23.040 §9.2.2.1, with the address of the service center: 176 octets. */
const UNREADABLE = {
  kind: 'sms_unreadable',
  iccid: '8901000000000000000017',
  pdu: 'F'.repeat(2 * 176),
  reason: 'x'.repeat(512),
  received_at: '2026-05-03T12:00:00.000Z',
} as const;

/** A call of an hour. */
const LONGEST_CALL = {
  kind: 'call_ended',
  call_id: 'c'.repeat(64),
  iccid: UNREADABLE.iccid,
  direction: 'inbound',
  peer: '+'.padEnd(32, '9'),
  started_at: UNREADABLE.received_at,
  answered_at: UNREADABLE.received_at,
  ended_at: UNREADABLE.received_at,
  reason: 'network_failure',
  cause: 127,
  audio: {
    captured_frames: 180_000,
    played_frames: 180_000,
    late_frames: 180_000,
    dropped_frames: 180_000,
    lost_frames: 180_000,
    capture_gaps: 180_000,
    xruns: 180_000,
  },
} as const;

const CALL = {
  kind: 'call_ended',
  direction: 'inbound',
  peer: '+13105550199',
  answered_at: null,
  reason: 'no_answer',
  cause: 19,
  audio: null,
} as const;

t.test('a burst is read at once; above it the socket rests until the frames are paid for', async (t) => {
  const clock = new ManualClock();
  const calls: string[] = [];
  const exceeded: number[] = [];
  const budget = frameBudgets(clock).of('rogue');
  const limiter = new FrameLimiter({
    clock,
    budget,
    socket: { pause: () => calls.push('pause'), resume: () => calls.push('resume') },
    onExceeded: (frames) => exceeded.push(frames),
  });
  for (let frame = 0; frame < FRAME_BURST; frame += 1) limiter.count();
  t.same(calls, []);
  // Frames that the socket had read already.
  for (let frame = 0; frame < 2 * FRAMES_PER_SECOND; frame += 1) limiter.count();
  t.same(calls, ['pause']);
  clock.advance(1_900);
  t.same(calls, ['pause']);
  clock.advance(200);
  t.same(calls, ['pause', 'resume']);
  t.same(exceeded, [1], 'it is reported once a minute');
  clock.advance(60_000);
  for (let frame = 0; frame <= FRAME_BURST; frame += 1) limiter.count();
  t.same(exceeded, [1, 2 * FRAMES_PER_SECOND]);
  clock.advance(-3_600_000);
  limiter.count();
  t.same(calls.slice(2), ['pause'], 'a clock that is set back gives no frames');
});

t.test('all links of a node share one budget, and a long frame costs more', async (t) => {
  const clock = new ManualClock();
  const budgets = frameBudgets(clock);
  let pauses = 0;
  const link = (): FrameLimiter => {
    const socket = { pause: () => (pauses += 1), resume: () => undefined };
    return new FrameLimiter({ clock, budget: budgets.of('rogue'), socket, onExceeded: () => undefined });
  };
  link().measure(16 * 1024 * FRAME_BURST);
  t.equal(pauses, 0);
  link().measure(1_000);
  t.equal(pauses, 1, 'a short one, too');
  t.equal(budgets.of('another').debtMs, 0);
});

t.test('the facts of a SIM have a limit of their own: they stay in the database', async (t) => {
  const clock = new ManualClock();
  const calls: string[] = [];
  const budget = frameBudgets(clock).of('rogue');
  const facts = factBudgets(clock);
  const limiter = new FrameLimiter({
    clock,
    budget,
    socket: { pause: () => calls.push('pause'), resume: () => calls.push('resume') },
    onExceeded: () => calls.push('exceeded'),
  });
  const lengthOf = (fact: Fact): number =>
    encodeFrame({ type: 'fact', sequence: Number.MAX_SAFE_INTEGER, fact }).length;
  const pairs = [
    [lengthOf(UNREADABLE), MODEM_FACTS.messages],
    [lengthOf(LONGEST_CALL), MODEM_FACTS.calls],
  ] as const;
  for (const [length, { burst }] of pairs)
    for (let fact = 0; fact < burst; fact += 1) limiter.count(length, facts.of('rogue', '8901'));
  for (let second = 0; second < 3_600; second += 1) {
    clock.advance(1_000);
    for (const [length, { perSecond }] of pairs) limiter.count(length * perSecond, facts.of('rogue', '8901'));
  }
  t.same(calls, [], 'all that a node takes from one modem');
  limiter.count(4_000_000, facts.of('rogue', '8901'));
  t.same(calls, ['exceeded', 'pause']);
  clock.advance(20_000);
  t.same(calls, ['exceeded', 'pause']);
  clock.advance(2 * 60 * 60_000);
  t.same(calls, ['exceeded', 'pause', 'resume']);
  limiter.count(16_000, facts.of('rogue', '8902'));
  t.equal(calls.length, 3);
});

t.test('facts that were acknowledged, sent again and again, are frames like any other', async (t) => {
  const { url, listed, send } = await honestNode(t, rig);
  const rogue = await rogueOf(t, url);
  await rogue.report(received('once'));
  for (let time = 0; time < 3 * FRAME_BURST; time += 1) rogue.sendFact(1, received('once'));
  await until('it is noted', async () => ((await listed('rogue'))?.refused.frames ?? 0) > 0);
  t.equal((await send(TEXT)).status, 200);
});

t.test('pongs that nothing asked for are frames like any other', async (t) => {
  const { url, listed, send } = await honestNode(t, rig);
  const rogue = await rogueOf(t, url);
  for (let time = 0; time < 3 * FRAME_BURST; time += 1) rogue.babble();
  await until('it is noted', async () => ((await listed('rogue'))?.refused.frames ?? 0) > 0);
  t.equal((await send(TEXT)).status, 200);
});

t.test('a frame that is wrong in many places makes a short line of log', async (t) => {
  const wrong = { type: 'hello', slots: Array(256).fill({}), calls: Array(256).fill({}) };
  t.throws(() => parseNodeFrame(JSON.stringify(wrong)), { message: /^.{20,500}$/s });
});

t.test('unreadable texts and calls of a SIM that a node invents do not fill the disk', async (t) => {
  const { url, db } = await honestNode(t, rig);
  const own = slotAt(77, { slot: 'r1' });
  const rogue = await rogueOf(t, url, { slots: [own] });
  const iccid = String(own.iccid);
  const at = new Date().toISOString();
  for (let batch = 0; batch < 6; batch += 1)
    await rogue.report(
      ...Array.from(
        { length: 50 },
        () => ({ kind: 'sms_unreadable', iccid, pdu: '00', reason: 'no', received_at: at }) as const,
      ),
      ...Array.from(
        { length: 100 },
        () => ({ ...CALL, iccid, call_id: `in_${randomUUID()}`, started_at: at, ended_at: at }) as const,
      ),
    );
  const countOf = async (table: 'unreadable_messages' | 'calls') =>
    (await db.selectFrom(table).select('iccid').execute()).length;
  t.equal(await countOf('unreadable_messages'), 200);
  t.equal(await countOf('calls'), 500);
});

t.test(
  'calls of such a SIM that ring and end do not fill the disk either, and the newest are kept',
  async (t) => {
    const { url, db } = await honestNode(t, rig);
    const own = slotAt(77, { slot: 'r1' });
    const rogue = await rogueOf(t, url, { slots: [own] });
    const iccid = String(own.iccid);
    const at = new Date().toISOString();
    const { direction, peer, answered_at } = CALL;
    for (let count = 0; count < 510; count += 1) {
      const call = { call_id: `in_call_${count}`, iccid, direction, peer, started_at: at, answered_at };
      rogue.send({ type: 'call', call: { ...call, state: 'ringing' } });
      await rogue.report({ ...CALL, ...call, ended_at: at });
    }
    const rows = await db.selectFrom('calls').select('id').orderBy('position').execute();
    t.equal(rows.length, 500);
    t.equal(rows.at(-1)?.id, 'in_call_509');
  },
);

t.test('of the journals that a node invents, the newest are remembered', async (t) => {
  const { db } = await honestNode(t, rig);
  const begin = (journalId: string): Promise<number> =>
    db.transaction().execute((trx) => setAcknowledged(trx, { nodeId: 'rogue', journalId, sequence: 7 }));
  for (let count = 0; count < 210; count += 1) await begin(`journal-${count}`);
  const journals = await db
    .selectFrom('journals')
    .select('journal_id')
    .where('node_id', '=', 'rogue')
    .execute();
  t.equal(journals.length, 200);
  t.equal(await begin('journal-209'), 7);
  t.equal(await begin('journal-0'), 0);
});

t.test('a node that floods is read late, which its operator sees; the others are served', async (t) => {
  const { url, listed, send, node } = await honestNode(t, rig);
  const rogue = await rogueOf(t, url);
  const event: SlotEvent = { slot: 'r1', kind: 'down', detail: 'again', at: new Date().toISOString() };
  for (let frame = 0; frame < 10 * FRAME_BURST; frame += 1) rogue.send({ type: 'event', event });
  await until('it is noted', async () => ((await listed('rogue'))?.refused.frames ?? 0) > 0);
  t.equal((await send(TEXT)).status, 200);
  t.equal(node.commands('send_sms').length, 1);
  t.match(await listed('honest'), { refused: {} });
});
