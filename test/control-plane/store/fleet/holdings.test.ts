// The owner of a text: the holder of the number at the time at which the service center had it. A text whose time cannot be known has no
// owner.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { applyFacts } from '#control-plane/nodes/facts.ts';
import { type Database, openDatabase } from '#control-plane/store/database/database.ts';
import { holderOfSim, SWEEP_AFTER_MS } from '#control-plane/store/fleet/holdings.ts';
import { countAvailable } from '#control-plane/store/fleet/number-pool.ts';
import { countNumbers, listNumbers } from '#control-plane/store/fleet/numbers.ts';
import type { Fact } from '#shared/link/messages.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

const postgres = await openDatabases(t);

const NOW = new Date('2026-11-21T08:00:00.000Z');
const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const ICCID = '8901000000000000017';
const NUMBER = '+12065550001';
/** When Bob's year began. */
const BEGIN_MS = NOW.getTime() - HOUR_MS;
const at = (ms: number): string => new Date(ms).toISOString();

/** Bob has the number for an hour; who had it or its SIM before had it until `freedAgoMs` before that. */
async function setUp(
  t: Test,
  { freedAgoMs, former = { number: NUMBER, iccid: ICCID } }: { freedAgoMs?: number; former?: object },
  open: () => Promise<Awaited<ReturnType<typeof openDatabase>>> = async () =>
    openDatabase({ url: await postgres.createMigrated(), connectionsMax: 2 }),
): Promise<Database> {
  const { db, close } = await open();
  t.teardown(close);
  await db
    .insertInto('numbers')
    .values({ number: NUMBER, iccid: ICCID, created_at: new Date(NOW.getTime() - 900 * DAY_MS) })
    .execute();
  const subscription = { wallet: '0x01', number: NUMBER, created_at: new Date(BEGIN_MS) };
  await db
    .insertInto('subscriptions')
    .values({ id: 'sub_bob', ...subscription, expires_at: new Date(BEGIN_MS + 365 * DAY_MS) })
    .execute();
  if (freedAgoMs !== undefined) {
    const held_until = new Date(BEGIN_MS - freedAgoMs);
    const held_from = new Date(held_until.getTime() - 365 * DAY_MS);
    await db
      .insertInto('former_holdings')
      .values({ number: NUMBER, iccid: ICCID, ...former, held_from, held_until })
      .execute();
  }
  return db;
}

interface Case {
  what: string;
  /** By the service center; undefined where its stamp is none. */
  sent: number | undefined;
  /** By the node; 08:00 by default. */
  read?: number;
  arrivedAfter?: number;
  is: 'stored' | 'unheld' | 'undated';
}

async function becomes(db: Database, { what, sent, read = NOW.getTime(), arrivedAfter }: Case) {
  const fact: Fact = {
    kind: 'sms_received',
    iccid: ICCID,
    from: '+13105550188',
    body: what,
    partial: false,
    sent_at: sent === undefined ? null : at(sent),
    received_at: at(read),
    ...(arrivedAfter === undefined ? {} : { arrived_after: at(arrivedAfter) }),
  };
  const { unheld, undated } = await db
    .transaction()
    .execute((trx) => applyFacts(trx, [{ key: what, fact }], NOW));
  const stored = await db.selectFrom('messages').select('id').where('fact_key', '=', what).execute();
  return [unheld > 0 ? 'unheld' : [], undated > 0 ? 'undated' : [], stored.map(() => 'stored')].flat();
}

const now = NOW.getTime();
const ALWAYS: readonly Case[] = [
  { what: 'sent now', sent: now, is: 'stored' },
  { what: 'by a clock a few seconds ahead', sent: now + 6 * SECOND_MS, is: 'stored' },
  { what: 'right after the sale', sent: BEGIN_MS, is: 'stored' },
  { what: 'right after it, by a clock that is behind', sent: BEGIN_MS - 6 * SECOND_MS, is: 'stored' },
  { what: 'before the sale', sent: BEGIN_MS - 60 * SECOND_MS, is: 'unheld' },
  { what: 'months before', sent: BEGIN_MS - 200 * DAY_MS, is: 'unheld' },
  {
    what: 'before the sale, waited at the service centre',
    sent: BEGIN_MS - 2 * DAY_MS,
    arrivedAfter: now - SECOND_MS,
    is: 'unheld',
  },
  { what: 'by a node whose clock is behind', sent: now, read: now - 5 * HOUR_MS, is: 'stored' },
  { what: 'no stamp, read before the sale', sent: undefined, read: BEGIN_MS - HOUR_MS, is: 'undated' },
];

for (const [about, open] of [
  ['Postgres', undefined],
  ['PGlite', async (t: Test) => openDatabase({ folder: temporaryFolder(t) })],
] as const) {
  t.test(`a number that had a holder before, on ${about}`, async (t) => {
    const db = await setUp(t, { freedAgoMs: 90 * DAY_MS }, open && (() => open(t)));
    for (const each of [
      ...ALWAYS,
      { what: 'no stamp', sent: undefined, is: 'undated' },
      { what: 'no stamp, came now', sent: undefined, arrivedAfter: now - SECOND_MS, is: 'stored' },
      { what: 'a stamp of tomorrow', sent: now + DAY_MS, is: 'undated' },
      { what: 'a stamp of tomorrow, came now', sent: now + DAY_MS, arrivedAfter: now, is: 'stored' },
      { what: 'a stamp of years ago', sent: now - 7_000 * DAY_MS, is: 'unheld' },
      {
        what: 'a stamp of years ago, came now: its clock is wrong',
        sent: now - 7_000 * DAY_MS,
        arrivedAfter: now - SECOND_MS,
        is: 'stored',
      },
      {
        what: 'a node that says it came later than it was read',
        sent: undefined,
        arrivedAfter: now + HOUR_MS,
        is: 'undated',
      },
    ] satisfies Case[])
      t.same(await becomes(db, each), [each.is], each.what);
  });
}

t.test('a number without an earlier holder', async (t) => {
  const db = await setUp(t, {});
  for (const each of [
    ...ALWAYS,
    { what: 'no stamp, read now', sent: undefined, is: 'stored' },
    { what: 'a stamp of tomorrow', sent: now + DAY_MS, is: 'stored' },
    { what: 'a stamp of years ago', sent: now - 7_000 * DAY_MS, is: 'stored' },
  ] satisfies Case[])
    t.same(await becomes(db, each), [each.is], each.what);
});

t.test('sold two minutes after its last holder: messages near that time belong to neither', async (t) => {
  const freedAgoMs = 120 * SECOND_MS;
  const db = await setUp(t, { freedAgoMs });
  const freed = BEGIN_MS - freedAgoMs;
  for (const each of [
    { what: 'of the last second of the former holder', sent: freed - SECOND_MS, is: 'undated' },
    { what: 'of it, by a clock that is ahead', sent: freed + 6 * SECOND_MS, is: 'undated' },
    { what: 'between the two', sent: freed + 60 * SECOND_MS, is: 'unheld' },
    { what: 'after the sale, by a clock that is behind', sent: BEGIN_MS - 6 * SECOND_MS, is: 'stored' },
    { what: 'no stamp, came now', sent: undefined, arrivedAfter: now, is: 'undated' },
  ] satisfies Case[])
    t.same(await becomes(db, each), [each.is], each.what);
});

t.test('a SIM that had another number, and a number that was on another SIM, were held, too', async (t) => {
  for (const former of [
    { number: '+12065550002', iccid: ICCID },
    { number: NUMBER, iccid: '8901000000000000025' },
  ]) {
    const db = await setUp(t, { freedAgoMs: DAY_MS, former });
    t.same(await becomes(db, { what: 'no stamp', sent: undefined, is: 'undated' }), ['undated']);
  }
});

t.test(
  'a holder whose year began by a clock that was ahead gets theirs, and not the former one’s',
  async (t) => {
    const db = await setUp(t, { freedAgoMs: DAY_MS });
    await db
      .updateTable('subscriptions')
      .set({ created_at: new Date(now + 900 * DAY_MS) })
      .execute();
    t.same(await becomes(db, { what: 'now', sent: now, is: 'stored' }), ['stored']);
    const former = { what: 'of the former one', sent: BEGIN_MS - 2 * DAY_MS, is: 'unheld' } as const;
    t.same(await becomes(db, former), ['unheld']);
  },
);

t.test('a call belongs to whom the number belonged when it began', async (t) => {
  const db = await setUp(t, { freedAgoMs: 120 * SECOND_MS });
  const ownerAt = async (ms: number) => (await holderOfSim(db, ICCID, new Date(ms))).subscriptionId;
  t.equal(await ownerAt(now), 'sub_bob');
  t.equal(await ownerAt(BEGIN_MS - 6 * SECOND_MS), 'sub_bob');
  t.equal(await ownerAt(BEGIN_MS - 60 * SECOND_MS), null);
  await sql`update former_holdings set held_until = ${new Date(BEGIN_MS - SECOND_MS)}`.execute(db);
  t.equal(await ownerAt(BEGIN_MS - 6 * SECOND_MS), null, 'it may be of the former holder');
});

t.test('a number is on sale once its SIM was swept after its last holder and quarantine', async (t) => {
  const db = await setUp(t, { freedAgoMs: 0 });
  await sql`delete from subscriptions`.execute(db);
  await sql`insert into nodes (id, link_id, link_alive_until) values ('lab', 'x', '2100-01-01')`.execute(db);
  await db
    .insertInto('sims')
    .values({
      iccid: ICCID,
      node_id: 'lab',
      slot: 'm1',
      device_id: null,
      state: 'registered',
      operator: null,
      signal_dbm: null,
      model: null,
      usb_path: null,
      reason: null,
      updated_at: NOW,
    })
    .execute();
  /** How many are on sale, and in which state the number is, when its SIM was swept at that time. */
  const sweptAt = async (ms: number | null) => {
    await db
      .updateTable('sims')
      .set({ swept_at: ms === null ? null : new Date(ms) })
      .execute();
    const [row] = await listNumbers(db, { limit: 1 }, NOW);
    const states = await countNumbers(db, NOW);
    t.same([...states.keys()], [row?.state]);
    return [await countAvailable(db, NOW), row?.state];
  };
  t.same(await sweptAt(null), [0, 'unswept'], 'not in this session of its modem');
  t.same(await sweptAt(BEGIN_MS - DAY_MS), [0, 'unswept']);
  t.same(await sweptAt(BEGIN_MS + SECOND_MS), [0, 'unswept'], 'the clock of the node may be ahead');
  t.same(await sweptAt(BEGIN_MS + SWEEP_AFTER_MS), [1, 'available']);
  const quarantined_until = new Date(BEGIN_MS + 3 * SWEEP_AFTER_MS);
  await db.updateTable('numbers').set({ quarantined_until }).execute();
  t.same(await sweptAt(BEGIN_MS + SWEEP_AFTER_MS), [0, 'unswept'], 'before its quarantine was over');
  t.same(await sweptAt(quarantined_until.getTime()), [1, 'available']);
  await sql`delete from former_holdings`.execute(db);
  await db.updateTable('numbers').set({ quarantined_until: null }).execute();
  t.same(
    await sweptAt(BEGIN_MS - DAY_MS),
    [1, 'available'],
    'it had no holder: any sweep of the session will do',
  );
  t.same(await sweptAt(null), [0, 'unswept']);
  await db.updateTable('sims').set({ state: 'lost' }).execute();
  t.same(await sweptAt(null), [0, 'offline']);
});
