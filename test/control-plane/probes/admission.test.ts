// Texts that prove the numbers of new SIMs: only to SIMs that texted first, limited per day and node, in fair turns.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { probeTokenIn } from '#control-plane/domain/probe-text.ts';
import { Fleet } from '#control-plane/nodes/fleet.ts';
import type { NodeLink } from '#control-plane/nodes/node-link.ts';
import { ProbeReceipts } from '#control-plane/probes/probe-text.ts';
import { Prober } from '#control-plane/probes/prober.ts';
import { recordArrival } from '#control-plane/store/operations/probes.ts';
import { systemClock } from '#shared/clock.ts';
import { DEFAULT_DESTINATIONS, destinationListSchema } from '#shared/destination-list.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';

const postgres = await openDatabases(t);

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The most texts a day that a node is asked for, as the README promises. */
const TEXTS_A_DAY = 32;

interface Sim {
  node: string;
  /** Digits of its ICCID. */
  index: number;
  number?: string;
  isAdmitted?: boolean;
  /** False: nothing that it sends or gets arrives. */
  isReal?: boolean;
}

const iccidOf = (index: number): string => `8901${String(index).padStart(15, '0')}`;
const numberOf = (index: number): string => `+1206555${String(index).padStart(4, '0')}`;

/** Nodes whose links are here, and a carrier between the SIMs that are real. */
async function setUp(t: Test, { destinations = DEFAULT_DESTINATIONS } = {}) {
  const db = await openTestDatabase(t, await postgres.createMigrated());
  const clock = new ManualClock(Date.parse('2026-11-21T08:00:00.000Z'));
  const bus = new LocalBus(systemClock);
  const fleet = new Fleet(bus);
  const now = (): Date => new Date(clock.now());
  const real = new Map<string, string>();
  const texts: Array<{ node: string; to: string }> = [];

  const linkOf = (nodeId: string) => ({
    nodeId,
    async command(_name: string, params: { iccid: string; to: string; body: string }) {
      const { iccid, to, body } = params;
      texts.push({ node: nodeId, to });
      const [from, target] = [real.get(iccid), [...real].find(([, number]) => number === to)];
      if (from === undefined || target === undefined)
        return { status: 'rejected', code: 'cms_38', class: 'retry', message: 'no', at: now().toISOString() };
      const token = String(probeTokenIn(body));
      const probeId = await recordArrival(db, { token, iccid: target[0], from, factKey: token }, now());
      if (probeId !== undefined) bus.publish({ kind: 'probe_arrived', probeId });
      return { status: 'accepted', message_references: [7], at: now().toISOString() };
    },
  });
  const addNode = async (id: string): Promise<void> => {
    await sql`insert into nodes (id, link_alive_until) values (${id}, '2030-01-01Z')`.execute(db);
    fleet.attach(linkOf(id) as unknown as NodeLink);
  };
  const addSims = async (sims: readonly Sim[]): Promise<void> => {
    for (const { node, index, number = numberOf(index), isAdmitted = false, isReal = true } of sims) {
      const iccid = iccidOf(index);
      if (isReal) real.set(iccid, number);
      await sql`insert into sim_tenures (iccid, node_id, slot, since, sighting, sighting_since)
        values (${iccid}, ${node}, ${`m${index}`}, ${now()}, 'present', ${now()})`.execute(db);
      await sql`insert into sims (iccid, node_id, slot, state, updated_at)
        values (${iccid}, ${node}, ${`m${index}`}, 'registered', ${now()})`.execute(db);
      await sql`insert into numbers (number, iccid, created_at, unadmitted_since)
        values (${number}, ${iccid}, ${now()}, ${isAdmitted ? null : now()})`.execute(db);
    }
  };
  /** As a node that reports other SIMs in its next frame. */
  const removeSims = async (node: string): Promise<void> => {
    await sql`delete from numbers using sims where sims.iccid = numbers.iccid and node_id = ${node}`.execute(
      db,
    );
    await sql`delete from sims where node_id = ${node}`.execute(db);
    await sql`delete from sim_tenures where node_id = ${node}`.execute(db);
  };
  const startProber = (): Prober => {
    const parts = {
      db,
      fleet,
      clock,
      log: silentLogger,
      destinations,
      receipts: new ProbeReceipts(bus, clock),
    };
    const limits = {
      smsPerMinute: 0,
      smsPerDay: 0,
      smsRecipientsPerDay: 0,
      smsRepeatedPerDay: 0,
      smsUnansweredPerDay: 0,
      smsPerAnswer: 0,
    };
    const sold = { soldPeriodMs: undefined, limits };
    const options = {
      ...sold,
      periodMs: MINUTE_MS,
      withCalls: false,
      random: Math.random,
      timeoutMs: 1_000,
      sendTimeoutMs: 1_000,
    };
    return new Prober({ ...parts, ...options, live: undefined as never });
  };
  let prober = startProber();
  return {
    db,
    clock,
    texts,
    addNode,
    addSims,
    removeSims,
    /** Numbers that are admitted, of those of these SIMs. */
    admitted: async (from: number, to: number): Promise<number> => {
      const rows = db.selectFrom('numbers').select('number').where('unadmitted_since', 'is', null);
      const iccids = Array.from({ length: to - from + 1 }, (_, index) => iccidOf(from + index));
      return (await rows.where('iccid', 'in', iccids).execute()).length;
    },
    restart: async (): Promise<void> => {
      await prober.stop();
      prober = startProber();
    },
    /** A minute later. */
    look: async (): Promise<void> => {
      clock.advance(MINUTE_MS + 1);
      await prober.check();
    },
  };
}

t.test('a node that invents SIMs gets no stranger texted, and its texts a day are limited', async (t) => {
  const { addNode, addSims, removeSims, look, restart, clock, texts } = await setUp(t);
  await addNode('honest');
  await addNode('rogue');
  await addSims([{ node: 'honest', index: 9_000, isAdmitted: true }]);
  const known = numberOf(9_000);
  let made = 0;
  const lookAtOthers = async (): Promise<void> => {
    await removeSims('rogue');
    const sims = Array.from({ length: 20 }, () => ({ node: 'rogue', index: ++made, isReal: false }));
    await addSims(sims);
    await look();
  };
  for (let round = 0; round < 8; round += 1) await lookAtOthers();
  t.same(
    texts.filter(({ to }) => to !== known),
    [],
    'only numbers that texted first get a text',
  );
  t.equal(texts.length, TEXTS_A_DAY);
  await restart();
  await lookAtOthers();
  t.equal(texts.length, TEXTS_A_DAY, 'no more after a restart');
  clock.advance(DAY_MS);
  await lookAtOthers();
  t.ok(texts.length > TEXTS_A_DAY, 'but on the next day');
});

t.test('a number that may not be texted is not texted to prove it', async (t) => {
  const destinations = destinationListSchema.parse(['+1206']);
  const { addNode, addSims, look, texts, admitted } = await setUp(t, { destinations });
  await addNode('one');
  await addNode('two');
  await addSims([
    { node: 'one', index: 1, isAdmitted: true },
    { node: 'two', index: 2, number: '+12125550002' },
    { node: 'two', index: 3 },
  ]);
  for (let round = 0; round < 4; round += 1) await look();
  t.same(
    texts.filter(({ to }) => !to.startsWith('+1206')),
    [],
  );
  t.equal(await admitted(3, 3), 1, 'its neighbour is proved');
  t.equal(await admitted(2, 2), 0);
});

t.test('nodes take turns, and scheduled probes come first', async (t) => {
  const { addNode, addSims, removeSims, look, texts, admitted } = await setUp(t);
  for (const node of ['honest', 'other', 'rogue']) await addNode(node);
  await addSims([
    { node: 'honest', index: 9_000, isAdmitted: true },
    { node: 'other', index: 9_001, isAdmitted: true },
    { node: 'honest', index: 9_002 },
  ]);
  for (let round = 0; round < 3; round += 1) {
    await removeSims('rogue');
    const sims = Array.from({ length: 200 }, (_, index) => ({
      node: 'rogue',
      index: 200 * round + index,
      isReal: false,
    }));
    await addSims(sims);
    await look();
  }
  t.equal(await admitted(9_002, 9_002), 1, 'the reports of the rogue count for nothing');
  t.same(
    new Set(texts.slice(0, 2).map(({ to }) => to)),
    new Set([numberOf(9_000), numberOf(9_001)]),
    'the scheduled ones were first',
  );
  t.equal(texts[0]?.node === 'rogue' || texts[1]?.node === 'rogue', false);
});

t.test('a rack of 64 new SIMs is admitted in an hour, beside SIMs that do not work', async (t) => {
  const { addNode, addSims, look, admitted, db } = await setUp(t);
  await addNode('old');
  await addNode('new');
  await addSims([{ node: 'old', index: 9_000, isAdmitted: true }]);
  const sims = Array.from({ length: 64 }, (_, index) => ({
    node: 'new',
    index: index + 1,
    isReal: index % 4 !== 0,
  }));
  await addSims(sims);
  for (let round = 0; round < 20; round += 1) await look();
  t.equal(await admitted(1, 64), 48);
  const probes = await db.selectFrom('probes').select('id').where('is_admission', '=', true).execute();
  t.equal(probes.length, 2 * 48 + TEXTS_A_DAY, 'texts that proved a number do not count');
});
