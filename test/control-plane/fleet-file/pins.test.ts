// PINs of the fleet file: to whichever node has the card, sealed for it, and a wrong one to one node only.
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { PinVault } from '#control-plane/pins/pin-vault.ts';
import { PinBox } from '#node-daemon/link/pin-box.ts';
import type { Slot } from '#shared/link/slot.ts';
import { identityOf } from '../../fixtures/nodes/enrolled-node.ts';
import { type Command, linkNode, type ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { validIccid } from '../../fixtures/nodes/valid-iccid.ts';
import { startAlerting } from '../../fixtures/service/alerting-service.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 300_000 };
const MINUTE_MS = 60_000;
const rig = await createRig();

const locked = (index: number, change: Partial<Slot> = {}): Slot =>
  slotAt(index, {
    iccid: validIccid(index),
    number: null,
    state: 'sim_locked',
    reason: 'sim_pin',
    swept_at: null,
    ...change,
  });

interface PinNode {
  node: ScriptedNode;
  /** The PINs that it got, as "iccid pin". */
  got: string[];
  report(slots: Slot[]): void;
}

async function operated(t: Test) {
  const dataDir = temporaryFolder(t);
  const alerting = await startAlerting(t, rig, { dataDir, handoverWaitMs: 0 });
  const { databaseUrl, url } = alerting;
  const operator = await openTestOperator(t, { databaseUrl, dataDir, url });
  const apply = (cards: Array<{ index: number; pin: string; number?: string }>) =>
    operator.call('applyFleet', {
      cards: cards.map(({ index, ...card }, line) => ({ line: line + 1, iccid: validIccid(index), ...card })),
    });
  /** `answer`: of a node that refuses PINs. */
  const connect = async (
    nodeId: string,
    slots: Slot[],
    { isRefusing = false, isForged = false } = {},
  ): Promise<PinNode> => {
    // The node's proof contains the time.
    alerting.clock.set(Date.now());
    const box = await PinBox.create();
    const { key } = await identityOf(url, nodeId);
    const signer = isForged ? generateKeyPairSync('ed25519').privateKey : key;
    const pinKey = box.keyOf({ key: signer, nodeId, controlPlaneUrl: url });
    const got: string[] = [];
    const onCommand = (command: Command) => {
      if (command.name !== 'unlock_sim')
        return { type: 'result', id: command.id, ok: true, result: {} } as const;
      const { sealed_pin: sealed } = command.params as { sealed_pin: string };
      void box.open(sealed).then((secret) => got.push(`${secret?.iccid} ${secret?.pin}`));
      return isRefusing
        ? ({ type: 'refusal', id: command.id, code: 'slot_unavailable', message: 'no' } as const)
        : ({ type: 'result', id: command.id, ok: true, result: {} } as const);
    };
    const node = await linkNode(t, url, { nodeId, slots, pinKey, onCommand });
    return { node, got, report: (next) => node.send({ type: 'slots', slots: next, alarms: [] }) };
  };
  const stateOf = async (index: number) =>
    (await alerting.db
      .selectFrom('cards')
      .select(['pin_state', 'pin_node', 'pin_reason'])
      .where('iccid', '=', validIccid(index))
      .executeTakeFirst()) ?? null;
  const becomes = (index: number, state: string) =>
    until(`card ${index} is ${state}`, async () => (await stateOf(index))?.pin_state === state, 20_000);
  return { ...alerting, apply, becomes, connect, dataDir, operator, stateOf };
}

t.test('the node that has the card gets its PIN, and no other node does', TIMEOUT, async (t) => {
  const { apply, becomes, connect, stateOf } = await operated(t);
  await apply([
    { index: 1, pin: '0042' },
    { index: 2, pin: '4711' },
  ]);
  const [a, b] = [await connect('rack-a', [locked(1)]), await connect('rack-b', [locked(3)])];
  await until('the PIN', () => a.got.length > 0);
  t.same(a.got, [`${validIccid(1)} 0042`]);
  t.match(await stateOf(1), { pin_state: 'sent', pin_node: 'rack-a' });
  a.report([slotAt(1, { iccid: validIccid(1), state: 'searching', number: null })]);
  await becomes(1, 'right');
  // The card moves; the new node may have a proved PIN, too.
  a.report([slotAt(1, { iccid: null, number: null, state: 'sim_absent' })]);
  b.report([locked(1, { slot: 'm3' })]);
  await until('the PIN moved along', () => b.got.length > 0);
  t.same(b.got, [`${validIccid(1)} 0042`]);
  t.equal(a.got.length, 1);
});

t.test('a refused PIN goes to no other node, and is an alert until it is corrected', TIMEOUT, async (t) => {
  const { apply, becomes, connect, hook, operator, pass } = await operated(t);
  await apply([{ index: 1, pin: '1111' }]);
  const a = await connect('rack-a', [locked(1)]);
  await until('the PIN', () => a.got.length === 1);
  a.report([locked(1, { reason: 'sim_pin_wrong' })]);
  await becomes(1, 'wrong');
  await pass(2 * MINUTE_MS);
  t.ok(hook.reported().includes('+sim_pin rack-a/m1'));
  const raised = hook.taken.flatMap(({ body }) => body.data.raised).find(({ kind }) => kind === 'sim_pin');
  t.match(raised, {
    severity: 'warning',
    summary: /^the SIM in slot m1 of node rack-a is locked: the PIN of/,
  });
  t.notMatch(JSON.stringify(hook.taken), /1111|8901260/, 'neither PIN nor ICCID');
  // The card moves to a node that does not know of the refusal.
  a.report([slotAt(1, { iccid: null, number: null, state: 'sim_absent' })]);
  const b = await connect('rack-b', [locked(1, { slot: 'm1' }), locked(2)]);
  await apply([{ index: 2, pin: '2222' }]);
  b.report([locked(1, { slot: 'm1' }), locked(2), locked(4)]);
  await until('the PIN of the other card', () => b.got.length > 0);
  t.same(b.got, [`${validIccid(2)} 2222`], 'not the refused one');
  await apply([{ index: 1, pin: '3333' }]);
  b.report([locked(1, { slot: 'm1' }), locked(2), locked(5)]);
  await until('the corrected PIN', () => b.got.length === 2);
  t.equal(b.got[1], `${validIccid(1)} 3333`);
  await operator.call('retryPin', { card: { node: 'rack-b', slot: 'm1' } });
  await t.rejects(operator.call('retryPin', { card: { iccid: validIccid(9) } }), /has given no PIN/);
});

t.test(
  'a rogue that invents cards gets few PINs, each once, and spoils none of the tries',
  TIMEOUT,
  async (t) => {
    const { apply, connect, db, hook, operator, pass, stateOf } = await operated(t);
    const indexes = Array.from({ length: 40 }, (_, place) => place + 1);
    await apply(indexes.map((index) => ({ index, pin: String(1_000 + index) })));
    const rogue = await connect(
      'rogue',
      indexes.map((index) => locked(index)),
    );
    await until('as many as it may have', async () => {
      const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from cards where pin_node = 'rogue'`.execute(db);
      return rows[0]?.count === 8 && rogue.got.length === 8;
    });
    rogue.report([...indexes.map((index) => locked(index)), locked(99)]);
    await pass(2 * MINUTE_MS);
    t.equal(new Set(rogue.got).size, 8, 'and no more, however often it asks');
    t.ok(hook.reported().some((line) => line.startsWith('+sim_pin rogue/')));
    // The operator revokes it, and the real cards appear: those whose PIN the rogue has are not tried, all others are.
    await operator.call('revokeNode', { node: 'rogue' });
    const honest = await connect(
      'honest',
      indexes.slice(0, 12).map((index) => locked(index)),
    );
    await until('the others', () => honest.got.length === 4, 20_000);
    const spoiled = new Set(rogue.got);
    t.ok(honest.got.every((pin) => !spoiled.has(pin)));
    t.match(await stateOf(1), { pin_state: 'sent', pin_node: 'rogue' });
  },
);

t.test('96 PINs a day for cards of an unproven holder, and no limit for others', TIMEOUT, async (t) => {
  const { apply, connect, db } = await operated(t);
  // As many as a day allows have been given and proved.
  const given = Array.from({ length: 96 }, (_, place) => validIccid(100 + place));
  await sql`insert into cards (iccid, pin, pin_state, pin_node, pin_sent_at, updated_at)
    select iccid, '-', 'right', 'rack', now(), now() from unnest(${given}::text[]) as given (iccid)`.execute(
    db,
  );
  await apply([1, 2, 3, 4].map((index) => ({ index, pin: String(1_000 + index) })));
  // An import with the node's name, a report of the node, an import without a name, and no number at all.
  const numbers = [null, 'number', 'holder'].map((unproven, place) => ({
    number: `+1206555010${place + 1}`,
    iccid: validIccid(place + 1),
    created_at: new Date(),
    unproven: unproven as 'number' | 'holder' | null,
  }));
  await db.insertInto('numbers').values(numbers).execute();
  const rack = await connect(
    'rack',
    [1, 2, 3, 4].map((index) => locked(index)),
  );
  await until('the proven one', () => rack.got.length > 0);
  rack.report([1, 2, 3, 4, 5].map((index) => locked(index)));
  await until('it is read', async () => {
    const { rows } = await sql`select from sims where iccid = ${validIccid(5)}`.execute(db);
    return rows.length > 0;
  });
  t.same(rack.got, [`${validIccid(1)} 1001`]);
  // Cards whose holder is proven do not count.
  const proven = given.slice(0, 3).map((iccid, place) => ({
    number: `+1206555020${place}`,
    iccid,
    created_at: new Date(),
    unproven: null,
  }));
  await db.insertInto('numbers').values(proven).execute();
  rack.report([1, 2, 3, 4].map((index) => locked(index)));
  await until('three more', () => rack.got.length === 4);
});

t.test('a corrected PIN goes to a node whose card refused another one', TIMEOUT, async (t) => {
  const { apply, becomes, connect, pass, stateOf } = await operated(t);
  await apply([{ index: 1, pin: '1111' }]);
  const refused = locked(1, { reason: 'sim_pin_wrong' });
  const a = await connect('rack-a', [locked(1)]);
  await until('the PIN', () => a.got.length === 1);
  a.report([refused]);
  await becomes(1, 'wrong');
  await apply([{ index: 1, pin: '2222' }]);
  a.report([refused, locked(2)]);
  await until('the corrected PIN', () => a.got.length === 2);
  t.equal(a.got[1], `${validIccid(1)} 2222`);
  a.report([refused, locked(3)]);
  await pass(1_000);
  t.match(await stateOf(1), { pin_state: 'sent' }, 'the earlier answer of the card is no answer to this PIN');
  // The daemon reports nothing new if the card refuses this one, too.
  await until('refused, too', async () => {
    await pass(MINUTE_MS);
    return (await stateOf(1))?.pin_state === 'wrong';
  });
  t.equal(a.got.length, 2, 'once');
  a.report([slotAt(1, { iccid: validIccid(1), state: 'searching', number: null })]);
  await becomes(1, 'right');
});

t.test(
  'a node that refuses a PIN did not try it; a forged key and an older node get none',
  TIMEOUT,
  async (t) => {
    const { apply, becomes, connect, operator, stateOf } = await operated(t);
    await apply([{ index: 1, pin: '0042' }]);
    const forged = await connect('forged', [locked(1)], { isForged: true });
    forged.report([locked(1), locked(7)]);
    await until('stored', async () => (await stateOf(1)) !== null);
    await forged.node.drop();
    await until('it is away', async () => (await operator.call('nodes', {}))[0]?.state === 'enrolled');
    const refusing = await connect('refusing', [locked(1)], { isRefusing: true });
    await until('asked', () => refusing.got.length > 0, 20_000);
    await becomes(1, 'untried');
    t.same(forged.got, []);
  },
);

t.test(
  'a refused PIN is sent again after an hour, and the alert says that it was refused',
  TIMEOUT,
  async (t) => {
    const { apply, becomes, clock, connect, db, hook, pass } = await operated(t);
    await apply([{ index: 1, pin: '0042' }]);
    const countLocked = async () => (await db.selectFrom('sims').select('iccid').execute()).length;
    const { got, report } = await connect('rack-a', [locked(1)], { isRefusing: true });
    await until('asked', () => got.length > 0, 20_000);
    await becomes(1, 'untried');
    for (let minute = 0; minute < 10; minute += 1) await pass(MINUTE_MS);
    report([locked(1), locked(7)]);
    await until('stored', async () => (await countLocked()) === 2);
    t.equal(got.length, 1);
    t.match(
      hook.taken.flatMap(({ body }) => body.data.raised).map(({ summary }) => summary),
      [/the node did not take its PIN$/],
    );
    clock.advance(59 * MINUTE_MS);
    await pass(MINUTE_MS);
    // Its link may have ended meanwhile: an hour of this clock is shorter than two heartbeats on a busy machine.
    const again = await connect('rack-a', [locked(1)]);
    await until('again', () => got.length + again.got.length > 1, 20_000);
  },
);

t.test('PINs that the service cannot open do not hold back those that it can', TIMEOUT, async (t) => {
  const { apply, connect, db, pass, stateOf } = await operated(t);
  const indexes = Array.from({ length: 10 }, (_, place) => place + 1);
  await apply(indexes.map((index) => ({ index, pin: String(1_000 + index) })));
  const last = validIccid(10);
  await sql`update cards set pin = (select pin from cards where iccid = ${last}) where iccid <> ${last}`.execute(
    db,
  );
  const { got } = await connect(
    'rack-a',
    indexes.map((index) => locked(index)),
  );
  await until('noted', async () => (await stateOf(1))?.pin_reason === 'pin_unreadable', 20_000);
  await until('the last one', async () => {
    await pass(MINUTE_MS);
    return got.length > 0;
  });
  t.same([...new Set(got)], [`${last} 1010`]);
});

t.test('a rogue that refuses each PIN gets no more of them, and spoils none', TIMEOUT, async (t) => {
  const { apply, connect, operator, pass, stateOf } = await operated(t);
  const indexes = Array.from({ length: 20 }, (_, place) => place + 1);
  const cards = indexes.map((index) => locked(index));
  await apply(indexes.map((index) => ({ index, pin: String(1_000 + index) })));
  const rogue = await connect('rogue', cards.slice(0, 8), { isRefusing: true });
  await until('as many as it may have', () => rogue.got.length >= 8);
  for (const next of [cards.slice(6, 14), cards.slice(12), cards]) {
    rogue.report(next);
    await pass(2 * MINUTE_MS);
  }
  t.equal(new Set(rogue.got).size, 8, 'the same ones again, if it asks');
  // A command may have been out of time: then the node gets it again.
  await until('it is returned', async () => {
    await pass(MINUTE_MS);
    return (await stateOf(1))?.pin_state === 'untried';
  });
  await operator.call('revokeNode', { node: 'rogue' });
  const honest = await connect('honest', [locked(1)]);
  await until('its card', () => honest.got.length > 0, 20_000);
  t.same(honest.got, [`${validIccid(1)} 1001`]);
});

t.test(
  'a PIN with a lost key, one of another card, and one that was changed in the database',
  TIMEOUT,
  async (t) => {
    const { apply, connect, dataDir, db, hook, pass, stateOf } = await operated(t);
    await apply([{ index: 1, pin: '0042' }]);
    const file = join(dataDir, 'pin.key');
    const vault = new PinVault(file);
    const sealed = vault.seal(validIccid(1), '0042');
    t.equal(vault.open(validIccid(1), sealed), '0042');
    t.throws(() => vault.open(validIccid(2), sealed), { message: /of another card/ });
    const flipped = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
    t.throws(() => vault.open(validIccid(1), flipped), { name: 'PinUnreadable' });
    t.equal(vault.seal(validIccid(1), '1234').length, vault.seal(validIccid(1), '12345678').length);
    const other = new PinVault(join(temporaryFolder(t), 'pin.key'));
    const foreign = other.seal(validIccid(1), '0042');
    t.throws(() => other.open(validIccid(1), sealed), { message: 'the PIN was sealed with another key' });
    await sql`update cards set pin = ${foreign}`.execute(db);
    const a = await connect('rack-a', [locked(1)]);
    await until('noted', async () => (await stateOf(1))?.pin_reason === 'pin_unreadable', 20_000);
    await pass(2 * MINUTE_MS);
    t.same(a.got, []);
    t.match(
      hook.taken.flatMap(({ body }) => body.data.raised).map(({ summary }) => summary),
      [/the service cannot open its PIN$/],
    );
  },
);
