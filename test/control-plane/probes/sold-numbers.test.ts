// Probes of sold numbers: their holders see nothing of them, and nothing else is hidden from a holder, even by an attacker.
import t, { type Test } from 'tap';
import type { FactOf } from '#shared/link/messages.ts';
import type { Slot } from '#shared/link/slot.ts';
import { BOB } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { type Row, subscriber } from '../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import {
  acceptAll,
  type Command,
  type ScriptedNodeOptions,
  slotAt,
} from '../../fixtures/nodes/scripted-node.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const DAY_MS = 24 * 60 * MINUTE_MS;
const CALM_LOOKS = 40;
/** Alice has the first. */
const SLOTS = [1, 2, 3].map((index) => slotAt(index));

type Service = NonNullable<Parameters<typeof subscriber>[2]>['service'];

async function alice(
  t: Test,
  service: Service = {},
  slots: Slot[] = SLOTS,
  onCommand: NonNullable<ScriptedNodeOptions['onCommand']> = acceptAll,
) {
  const clock = new ManualClock();
  const beats = { heartbeatMs: 100_000 * MINUTE_MS, alertSlotDownMs: MINUTE_MS };
  const own = await subscriber(t, rig, {
    slots,
    onCommand,
    service: { clock, ...beats, probeSoldHours: 24, ...service },
  });
  const db = await openTestDatabase(t, own.databaseUrl);
  const probes = () => db.selectFrom('probes').selectAll().orderBy('position').execute();
  const texts = (): Command[] => own.node.commands('send_sms');
  const idle = () => roundIsOver(clock);
  await idle();
  /** A check of sold numbers after the given time; returns the texts that it sent. */
  const check = async (afterMs = MINUTE_MS, { sends = true } = {}): Promise<Command[]> => {
    await idle();
    const before = texts().length;
    clock.advance(afterMs);
    // Timers of a send may be among those that are due: calm is what lasts.
    let calmLooks = 0;
    await until('a text, or calm', () => {
      calmLooks = clock.dueIn(MINUTE_MS) >= 6 ? calmLooks + 1 : 0;
      return texts().length > before || (!sends && calmLooks > CALM_LOOKS);
    });
    return texts().slice(before);
  };
  const arrives = async (change: Partial<FactOf<'sms_received'>> & { body: string; from: string }) => {
    const at = new Date(clock.now()).toISOString();
    const fact = {
      kind: 'sms_received',
      iccid: String(SLOTS[0]?.iccid),
      sent_at: at,
      received_at: at,
      partial: false,
    };
    await own.node.report({ ...fact, ...change } as FactOf<'sms_received'>);
  };
  const bodies = async () =>
    ((await own.get('/sms/messages')).body['messages'] as Row[]).map(({ body }) => body);
  const deleteAll = async () => {
    const { url, headers } = own;
    const answer = await fetch(`${url}/sms/messages`, { method: 'DELETE', headers });
    t.equal(answer.status, 200);
    t.same(await bodies(), []);
  };
  return { ...own, clock, db, probes, texts, check, arrives, bodies, deleteAll, idle };
}

const partsOf = ({ params }: Command) => params as { iccid: string; to: string; body: string };
const numberOf = (iccid: string): string => String(SLOTS.find((slot) => slot.iccid === iccid)?.number);

t.test('a text to a sold number: its holder gets nothing of it, and only of it', async (t) => {
  const { check, arrives, probes, bodies, get, db, number, clock, idle } = await alice(t);
  const [command, ...more] = await check();
  t.same(more, []);
  const { iccid, to, body } = partsOf(command as Command);
  const from = numberOf(iccid);
  t.equal(to, number);
  t.not(from, number, 'a spare SIM sends it');
  const [row] = await probes();
  t.match(row, { to_subscriber: true, is_scheduled: true, result: null });
  t.notOk(JSON.stringify(row).includes(body.slice(-20)), 'its secret is not stored');

  // An attacker has seen the text, or a part of it.
  const shown = [
    { body: `${body} `, from },
    { body: body.toUpperCase(), from },
    { body: `${body}\nCall me`, from },
    { body, from: '+13105550188' },
    { body, from, partial: true },
    { body: body.replace(/\w{20}$/, '0'.repeat(20)), from },
  ];
  for (const text of shown) await arrives(text);
  t.same(await bodies(), shown.map((text) => text.body).reverse());
  t.match(await probes(), [{ result: null, arrived_at: null }], 'none of them counts');
  await arrives({ body, from });
  t.match(await probes(), [{ result: 'delivered', latency_ms: Number }]);
  t.equal((await bodies()).length, shown.length, 'the probe is not shown');
  await arrives({ body, from });
  t.equal((await bodies()).length, shown.length + 1, 'a copy of it is');

  const claimed = (await get('/sms/receive')).body as { messages: Row[] };
  t.equal(claimed.messages.length, shown.length + 1);
  t.match(await db.selectFrom('nodes').select('unheld_messages').execute(), [{ unheld_messages: 0 }]);
  t.same(await db.selectFrom('recent_sends').selectAll().execute(), [], 'it counts for no limit');
  t.same(await db.selectFrom('sent_texts').selectAll().execute(), [], 'nor in the report of traffic');
  await idle();
  clock.advance(DAY_MS - 10 * MINUTE_MS);
  await idle();
  t.equal((await probes()).length, 1, 'once a day');
});

t.test('a late text is a probe within a week, and a message after it', async (t) => {
  const { check, arrives, probes, bodies, clock, idle } = await alice(t, { probeTimeoutMs: MINUTE_MS });
  for (const [waitMs, isShown] of [
    [6 * DAY_MS, false],
    [8 * DAY_MS, true],
  ] as const) {
    const known = (await bodies()).length;
    const [command] = await check(DAY_MS);
    const { iccid, body } = partsOf(command as Command);
    await until('the carrier has it', async () => (await probes()).length > 0);
    clock.advance(waitMs);
    await until('it is lost', async () => (await probes()).every(({ result }) => result === 'failed'));
    await idle();
    await arrives({ body, from: numberOf(iccid) });
    t.equal((await bodies()).length - known, Number(isShown));
  }
});

t.test(
  'switched off, nothing is probed; switched on, a stranger’s text replaces a probe, and a call is not disturbed',
  async (t) => {
    const off = await alice(t, { probeSoldHours: undefined });
    t.same(await off.check(DAY_MS, { sends: false }), []);
    const { check, arrives, node, clock, db } = await alice(t);
    await arrives({ body: 'hello', from: '+13105550188' });
    t.same(await check(MINUTE_MS, { sends: false }), [], 'a text has just arrived');
    const call = {
      call_id: 'call_of_a_person',
      iccid: String(SLOTS[0]?.iccid),
      direction: 'inbound',
      state: 'active',
      peer: '+13105550188',
      started_at: new Date(clock.now()).toISOString(),
      answered_at: new Date(clock.now()).toISOString(),
    } as const;
    node.send({ type: 'call', call });
    await until(
      'it is recorded',
      async () => (await db.selectFrom('calls').select('id').execute()).length === 1,
    );
    t.same(await check(DAY_MS, { sends: false }), [], 'a call is up');
  },
);

t.test(
  'a number without texts: two probes lost since its last text, even if that was deleted, and none that was not sent',
  async (t) => {
    let isRefusing = false;
    const onCommand = (command: Command) =>
      command.name === 'send_sms' && isRefusing
        ? ({ type: 'refusal', id: command.id, code: 'slot_unavailable', message: 'restarting' } as const)
        : acceptAll(command);
    const { check, arrives, deleteAll, probes, clock, db, idle } = await alice(
      t,
      { probeTimeoutMs: MINUTE_MS },
      SLOTS,
      onCommand,
    );
    const isUnreached = async () => (await db.selectFrom('unreached_sims').selectAll().execute()).length > 0;
    const ended = () => until('it has ended', async () => (await probes()).at(-1)?.result !== null);
    const lose = async () => {
      t.equal((await check(DAY_MS)).length, 1);
      await until('the carrier has it', async () => (await probes()).at(-1)?.result === null);
      clock.advance(2 * MINUTE_MS);
      await ended();
      t.match((await probes()).at(-1), { result: 'failed', failed_end: 'either' });
      await idle();
    };
    await lose();
    t.notOk(await isUnreached(), 'one loss is no proof');
    await arrives({ body: 'hello', from: '+13105550188' });
    await deleteAll();
    await lose();
    t.notOk(await isUnreached(), 'one loss since a text arrived');
    await lose();
    t.ok(await isUnreached());
    clock.advance(MINUTE_MS);
    await idle();
    await arrives({ body: 'hello again', from: '+13105550188' });
    await deleteAll();
    clock.advance(MINUTE_MS);
    await until('it is reached', async () => !(await isUnreached()));
    await idle();
    isRefusing = true;
    const known = (await probes()).length;
    await check(DAY_MS);
    await until('a probe', async () => (await probes()).length > known);
    await ended();
    t.match((await probes()).at(-1), { result: 'abandoned' });
    await idle();
    t.notOk(await isUnreached(), 'old losses do not count again');
  },
);

t.test('texts are recorded once a minute, and one that is deleted still puts a probe off', async (t) => {
  const { check, arrives, deleteAll, clock, db } = await alice(t);
  const recorded = async () =>
    (await db.selectFrom('last_received').select('at').executeTakeFirstOrThrow()).at.getTime();
  const first = clock.now();
  for (const body of ['one', 'two']) await arrives({ body, from: '+13105550188' });
  clock.advance(MINUTE_MS / 2);
  await arrives({ body: 'three', from: '+13105550188' });
  t.equal(await recorded(), first);
  clock.advance(MINUTE_MS / 2);
  await arrives({ body: 'four', from: '+13105550188' });
  t.equal(await recorded(), first + MINUTE_MS);
  await deleteAll();
  t.same(await check(MINUTE_MS, { sends: false }), []);
});

t.test('each sender keeps to the limits of a number, and is never a sold one', async (t) => {
  const { check, databaseUrl, clock, texts } = await alice(
    t,
    { smsRecipientsPerDay: 1, probeTimeoutMs: 1_000 },
    SLOTS.slice(0, 3),
  );
  await subscribeInStore(databaseUrl, BOB, String(SLOTS[1]?.number), new Date(clock.now()));
  const spare = String(SLOTS[2]?.iccid);
  t.equal((await check()).length, 1);
  clock.advance(MINUTE_MS);
  t.same(await check(12 * 60 * MINUTE_MS, { sends: false }), []);
  t.same(
    texts().map((text) => partsOf(text).iccid),
    [spare],
    'a second recipient has to wait for the next day',
  );
  t.equal((await check(12 * 60 * MINUTE_MS)).length, 1, 'the other number');
  t.same(
    texts()
      .map((text) => partsOf(text).to)
      .sort(),
    [SLOTS[0]?.number, SLOTS[1]?.number],
  );
});
