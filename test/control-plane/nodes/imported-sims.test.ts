// Numbers that an operator imported before their cards are in a rack: a stolen node key that guesses ICCIDs gets none of them.
import t, { type Test } from 'tap';
import type { Slot } from '#shared/link/slot.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { heard } from '../../fixtures/nodes/heard.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const IMPORTED = 30;
const CARDS = Array.from({ length: IMPORTED }, (_, index) => slotAt(index + 1));

/** That many SIMs of a batch, in slots of the rogue. */
const guesses = (count: number): Slot[] =>
  Array.from({ length: count }, (_, index) => slotAt(index + 1, { slot: `r${index + 1}`, number: null }));

async function setUp(t: Test, { node, admitNewSims = false }: { node?: string; admitNewSims?: boolean }) {
  const { url, databaseUrl } = await rig.start(t, { heartbeatMs: 500, admitNewSims });
  const db = await openTestDatabase(t, databaseUrl);
  const operator = await openTestOperator(t, { databaseUrl, url });
  const importAs = (name: string | undefined) =>
    operator.call('importNumbers', {
      rows: CARDS.map(({ number, iccid }, index) => ({
        line: index + 1,
        number: String(number),
        iccid: String(iccid),
        ...(name === undefined ? {} : { node: name }),
      })),
    });
  await importAs(node);
  return {
    db,
    operator,
    importAs,
    listed: async (name: string) => (await operator.call('nodes', {})).find((row) => row.name === name),
    available: () => availableAt(url),
    /** A node, once its slots are stored. */
    connect: async (name: string, slots: Slot[]) => {
      const linked = await linkNode(t, url, { nodeId: name, slots });
      await heard(linked);
      return linked;
    },
  };
}

t.test(
  'a number imported for a node is that node’s first, even if another node guesses its ICCID',
  async (t) => {
    const { connect, available, listed, operator, importAs } = await setUp(t, {
      node: 'rack-1',
      admitNewSims: true,
    });
    const rogue = await connect('rogue', guesses(90));
    t.equal(await available(), 0, 'the rogue puts nothing on sale');
    t.match(await listed('rogue'), { sims: 90 - IMPORTED, refused: { claims: IMPORTED } });
    const { rows } = await operator.call('numbers', { limit: 1 });
    t.match(rows, [{ state: 'offline', node: null, reason: 'waits for rack-1' }]);
    const honest = await connect('rack-1', CARDS);
    t.equal(await available(), IMPORTED);
    t.match(await listed('rack-1'), { sims: IMPORTED, is_suspended: false, refused: {} });
    t.same(await importAs('rack-1'), { added: 0, back: 0, known: IMPORTED });
    // From now on the card moves like any other.
    const gone = { iccid: null, number: null, state: 'sim_absent' } as const;
    rogue.send({ type: 'slots', slots: [], alarms: [] });
    honest.send({ type: 'slots', slots: [slotAt(1, gone), ...CARDS.slice(1)], alarms: [] });
    await connect('rack-2', [slotAt(1)]);
    await until('it has moved', async () => (await listed('rack-2'))?.sims === 1);
    t.equal(await available(), IMPORTED);
  },
);

t.test('"slot transfer" gives such a card to another node', async (t) => {
  const { connect, listed, operator } = await setUp(t, { node: 'rack-1' });
  await connect('rack-2', [slotAt(1, { slot: 'm7' })]);
  t.match(await listed('rack-2'), { sims: 0, unregistered_slots: [{ reason: 'claim_refused' }] });
  await operator.call('transferSim', { node: 'rack-2', slot: 'm7' });
  await until('it has it', async () => (await listed('rack-2'))?.sims === 1);
});

t.test('a node that had the SIM before the import gives it up to the node that is named', async (t) => {
  const { connect, available, listed, importAs } = await setUp(t, {});
  await connect('rogue', guesses(IMPORTED));
  t.equal(await available(), IMPORTED, 'the import names no node');
  await importAs('rack-1');
  t.equal(await available(), 0);
  await connect('rack-1', CARDS);
  t.equal(await available(), IMPORTED);
  t.match(await listed('rack-1'), { sims: IMPORTED, is_suspended: false });
});

t.test('a node that shows many unknown SIMs takes no imported one until it is approved', async (t) => {
  const { connect, available, listed, operator } = await setUp(t, {});
  const rogue = await connect('rogue', guesses(200));
  t.equal(await available(), 0);
  t.match(await listed('rogue'), { sims: 0, is_suspended: true });
  // Guesses in several frames are as many.
  const patient = await connect('patient', guesses(IMPORTED + 90).slice(IMPORTED));
  patient.send({ type: 'slots', slots: guesses(IMPORTED + 110).slice(IMPORTED + 90), alarms: [] });
  patient.send({ type: 'slots', slots: guesses(IMPORTED), alarms: [] });
  await until('it is suspended', async () => (await listed('patient'))?.is_suspended === true);
  t.equal(await available(), 0);
  await connect('rack-1', CARDS);
  t.equal(await available(), IMPORTED, 'the rack itself loses nothing');
  await operator.call('approveNode', { node: 'rogue' });
  rogue.send({ type: 'slots', slots: guesses(201).slice(IMPORTED), alarms: [] });
  await until('the operator answers for it', async () => (await listed('rogue'))?.sims === 171);
});

t.test(
  'a rack of 64 new cards, of which some were imported, takes all of them, again and again',
  async (t) => {
    const { connect, available, listed } = await setUp(t, {});
    const rack = Array.from({ length: 64 }, (_, index) => slotAt(index + 11));
    const node = await connect('rack-1', rack);
    t.equal(await available(), 20);
    for (const slots of [[], rack, rack.slice(0, 60), rack]) node.send({ type: 'slots', slots, alarms: [] });
    await until('all are there', async () => (await listed('rack-1'))?.sims === 64);
    t.match(await listed('rack-1'), { is_suspended: false });
  },
);

t.test('an honest rack is not suspended when others took its imported cards before it came', async (t) => {
  const { connect, listed, operator, db } = await setUp(t, {});
  await connect('rogue', guesses(IMPORTED));
  t.match(await listed('rogue'), { sims: IMPORTED });
  await connect('rack-1', [...CARDS, slotAt(IMPORTED + 1)]);
  t.match(await listed('rack-1'), { sims: 1, is_suspended: false, refused: { claims: IMPORTED } });
  const claims = await db.selectFrom('sim_claims').select(['node_id', 'cause']).execute();
  t.same(new Set(claims.map(({ node_id, cause }) => `${node_id} ${cause}`)), new Set(['rack-1 contested']));
  await operator.call('revokeNode', { node: 'rogue' });
  await operator.call('approveNode', { node: 'rack-1' });
  await until('the operator has looked', async () => (await listed('rack-1'))?.sims === IMPORTED + 1);
});
