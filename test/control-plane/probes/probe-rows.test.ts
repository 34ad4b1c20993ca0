// Probes in the store, on both databases: recognized, ended once, abandoned when their process died, and one instance at a time.
import { sql } from 'kysely';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { judgeSlot } from '#control-plane/probes/slot-judge.ts';
import type { Database } from '#control-plane/store/database/database.ts';
import { listProbes, summarizeProbes } from '#control-plane/store/operations/probe-list.ts';
import {
  abandonOverdue,
  deleteOldProbes,
  endProbe,
  insertProbe,
  lastScheduled,
  leaveTurn,
  type Probe,
  recordArrival,
  takeTurn,
} from '#control-plane/store/operations/probes.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { reportSlots } from '../../fixtures/database/number-pool.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { someOf } from '../../fixtures/sweep.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const postgres = await openDatabases(t);

const BEGIN = Date.parse('2026-11-22T12:00:00Z');
const at = (seconds: number): Date => new Date(BEGIN + seconds * 1_000);

const sim = (slot: string, carrier: string | null = 'T-Mobile') => ({
  number: `+1206555000${slot}`,
  iccid: `890100000000000000${slot}`,
  node: 'lab',
  slot: `m${slot}`,
  carrier,
});

const probe = (digit: string, change: Partial<Probe> = {}): Probe => ({
  id: `probe_${digit.repeat(24)}`,
  kind: 'sms',
  isScheduled: true,
  isAdmission: false,
  isToSubscriber: false,
  token: digit.repeat(20),
  sender: sim('1'),
  recipient: sim('2', 'AT&T'),
  startedAt: at(0),
  deadlineAt: at(120),
  ...change,
});

const DATABASES = {
  Postgres: () => postgres.createMigrated(),
  PGlite: async (t: Test) => ({ folder: temporaryFolder(t) }),
};

for (const [name, where] of someOf(t, Object.entries(DATABASES), 1)) {
  const onDatabase = (about: string, check: (t: Test, db: Database) => Promise<void>) =>
    t.test(`${about} (${name})`, async (t) => check(t, await openTestDatabase(t, await where(t))));

  onDatabase('a text is a probe by its token, its SIM and its sender', async (t, db) => {
    await insertProbe(db, probe('a'));
    const text = { token: 'a'.repeat(20), iccid: sim('2').iccid, from: sim('1').number, factKey: 'lab/1/7' };
    t.equal(await recordArrival(db, { ...text, token: 'b'.repeat(20) }, at(1)), undefined);
    t.equal(await recordArrival(db, { ...text, iccid: sim('3').iccid }, at(1)), undefined);
    t.equal(await recordArrival(db, { ...text, from: '+13105550188' }, at(1)), undefined);
    const id = probe('a').id;
    t.equal(await recordArrival(db, { ...text, from: '2065550001' }, at(3)), id, 'in national form');
    t.equal(await recordArrival(db, text, at(9)), id, 'the same fact again: it is no subscriber’s message');
    t.equal(await recordArrival(db, { ...text, factKey: 'lab/1/8' }, at(9)), undefined, 'a copy is one');
    const late = { result: 'failed', failedEnd: 'either', why: 'lost' } as const;
    t.same(await endProbe(db, id, late, at(10)), { result: 'delivered', latencyMs: 3_000 }, 'the first end');
    t.match(await listProbes(db, { limit: 10 }), [
      { result: 'delivered', latency_ms: 3_000, ended_at: at(3) },
    ]);
  });

  onDatabase('probes of a process that died are abandoned; old ones are deleted', async (t, db) => {
    await insertProbe(db, probe('a'));
    await abandonOverdue(db, at(179));
    t.match(await listProbes(db, { limit: 10 }), [{ result: null }]);
    await abandonOverdue(db, at(181));
    t.match(await listProbes(db, { limit: 10 }), [{ result: 'abandoned', failed_end: null, why: String }]);
    t.match(await summarizeProbes(db, { by: 'slot', span: 'hour', now: at(200) }), [
      { delivered: 0, failed: 0, abandoned: 1, p50_ms: null },
      { delivered: 0, failed: 0, abandoned: 1, p50_ms: null },
    ]);
    await deleteOldProbes(db, at(0));
    t.equal((await listProbes(db, { limit: 10 })).length, 1);
    await deleteOldProbes(db, at(1));
    t.same(await listProbes(db, { limit: 10 }), []);
  });

  onDatabase('one instance has the turn, until it leaves it or dies', async (t, db) => {
    t.equal(await takeTurn(db, 'one', at(60), at(0)), true);
    t.equal(await takeTurn(db, 'two', at(60), at(0)), false);
    t.equal(await takeTurn(db, 'one', at(90), at(1)), true, 'it may go on');
    t.equal(await takeTurn(db, 'two', at(150), at(89)), false);
    t.equal(await takeTurn(db, 'two', at(150), at(90)), true, 'the other has died');
    await leaveTurn(db, 'one');
    t.equal(await takeTurn(db, 'one', at(150), at(91)), false, 'it is not its own any more');
    await leaveTurn(db, 'two');
    t.equal(await takeTurn(db, 'one', at(150), at(91)), true);
  });

  onDatabase('one node that lies takes no slot of another out of service', async (t, db) => {
    const places = ['honest/1', 'honest/2', 'liar/3', 'liar/4', 'liar/5', 'liar/6', 'third/7'];
    const at = (place: string) => ({ ...sim(place.slice(-1)), node: place.split('/')[0] as string });
    for (const id of ['honest', 'liar', 'third'])
      await sql`insert into nodes (id, link_id, link_alive_until) values (${id}, ${id}, '2100-01-01')`.execute(
        db,
      );
    for (const { number, iccid, node, slot, carrier } of places.map(at)) {
      await db
        .insertInto('numbers')
        .values({ number, iccid, created_at: new Date(BEGIN) })
        .execute();
      const row = { iccid, node_id: node, slot, operator: carrier, updated_at: new Date(BEGIN) };
      const unknown = { device_id: null, signal_dbm: null, model: null, usb_path: null, reason: null };
      await db
        .insertInto('sims')
        .values({ ...row, ...unknown, state: 'registered' })
        .execute();
    }
    await reportSlots(db);
    const clock = new ManualClock(BEGIN);
    let count = 0;
    /** Whether `from` is out of service after texts from it that did not arrive. */
    const isOutAfter = async (from: string, ...to: string[]): Promise<boolean> => {
      for (const recipient of to) {
        count += 1;
        const one = probe('a', { id: `probe_${count}`, token: String(count).padStart(20, '0') });
        await insertProbe(db, { ...one, sender: at(from), recipient: at(recipient) });
        const lost = { result: 'failed', failedEnd: 'either', why: 'lost' } as const;
        await endProbe(db, one.id, lost, new Date(BEGIN));
      }
      const place = { node: at(from).node, slot: at(from).slot };
      await judgeSlot({ db, clock, log: pino({ enabled: false }) }, place);
      const row = await db
        .selectFrom('slot_service')
        .select('by')
        .where('node_id', '=', place.node)
        .where('slot', '=', place.slot)
        .where('out_of_service_at', 'is not', null)
        .executeTakeFirst();
      return row !== undefined;
    };
    t.equal(await isOutAfter('honest/1', 'liar/3', 'liar/4', 'liar/5'), false, 'it is one node’s word');
    t.equal(await isOutAfter('honest/1', 'honest/2'), false, 'and a text that was lost');
    t.equal(await isOutAfter('honest/1', 'third/7'), true, 'two partners beside it say so, too');
    t.equal(await isOutAfter('third/7', 'liar/3', 'liar/6', 'honest/2'), false);
    t.equal(await isOutAfter('third/7', 'honest/2'), true, 'the only other one, twice');
    await sql`update sims set state = 'lost' where node_id = 'third'`.execute(db);
    t.equal(await isOutAfter('liar/3', 'liar/4', 'liar/5'), true, 'a node counts about itself');
    await sql`update sims set state = 'lost' where iccid = ${at('honest/1').iccid}`.execute(db);
    t.equal(await isOutAfter('honest/2', 'liar/4', 'liar/5'), true, 'no other node could confirm it');
  });

  onDatabase('summaries: a carrier once a probe, a failure at the ends that may be guilty', async (t, db) => {
    const end = async (one: Probe, ms: number | 'sender' | 'either'): Promise<void> => {
      await insertProbe(db, one);
      const failed = { result: 'failed', why: 'no' } as const;
      const outcome =
        typeof ms === 'number'
          ? ({ result: 'delivered', latencyMs: ms } as const)
          : { ...failed, failedEnd: ms };
      await endProbe(db, one.id, outcome, at(5));
    };
    await end(probe('a'), 1_000);
    await end(probe('b'), 'sender');
    await end(probe('c', { recipient: sim('3') }), 'either');
    await end(probe('d', { startedAt: at(-7_200) }), 4_000);
    const now = at(60);
    t.match(await summarizeProbes(db, { by: 'carrier', span: 'hour', now }), [
      { carrier: 'AT&T', delivered: 1, failed: 0, p50_ms: 1_000, p99_ms: 1_000, node: null, role: null },
      { carrier: 'T-Mobile', delivered: 1, failed: 2 },
    ]);
    t.match(await summarizeProbes(db, { by: 'slot', span: 'day', now }), [
      { slot: 'm2', role: 'recipient', delivered: 2, failed: 0, p50_ms: 1_000, p99_ms: 4_000 },
      { slot: 'm1', role: 'sender', delivered: 2, failed: 2 },
      { slot: 'm3', role: 'recipient', delivered: 0, failed: 1 },
    ]);
    t.equal((await listProbes(db, { slot: 'm3', node: 'lab', limit: 10 })).length, 1);
    t.equal(
      (await listProbes(db, { result: 'failed', limit: 1 })).length,
      2,
      'one more shows that there are',
    );
    t.same(await lastScheduled(db, 'sms', [sim('1').iccid]), at(0));
    t.equal(await lastScheduled(db, 'call', [sim('1').iccid]), undefined);
  });
}
