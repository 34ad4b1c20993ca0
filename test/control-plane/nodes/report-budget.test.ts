// The writes that the slot reports of a node may cause: a rogue is slowed, a rack that is plugged in again is not.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { inTransaction } from '#control-plane/store/database/database.ts';
import type { Slot } from '#shared/link/slot.ts';
import { type Logger, silentLogger } from '#shared/log.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { report } from '../../fixtures/nodes/heard.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const YEAR_MS = 366 * 86_400_000;
const PAUSE_MAX_MS = 10_000;
const TABLES = ['slots', 'sims', 'sim_tenures', 'sim_claims', 'numbers', 'nodes', 'node_refusals'];

const rig = await createRig();

async function setup(t: Test, { admitNewSims = false, slots = [] as Slot[], log = silentLogger } = {}) {
  const clock = new ManualClock();
  const { url, databaseUrl } = await rig.start(t, { admitNewSims, clock, log, heartbeatMs: YEAR_MS });
  const db = await openTestDatabase(t, databaseUrl);
  const operator = await openTestOperator(t, { databaseUrl, url });
  await sql`create sequence rows_written`.execute(db);
  await sql`create function count_row() returns trigger language plpgsql as
    $$ begin perform nextval('rows_written'); return null; end $$`.execute(db);
  for (const table of TABLES)
    await sql`create trigger count_row after insert or update or delete on ${sql.table(table)}
      for each row execute function count_row()`.execute(db);
  const node = await linkNode(t, url, { nodeId: 'rack', slots });
  let events = 0;
  return {
    clock,
    db,
    node,
    written: async () => {
      const { rows } = await sql<{ count: number }>`
        select case when is_called then last_value else 0 end as count from rows_written`.execute(db);
      return rows[0]?.count ?? 0;
    },
    /** Resolves when the service has read all frames so far. */
    read: async () => {
      events += 1;
      const detail = `event ${events}`;
      node.send({ type: 'event', event: { slot: 'm1', kind: 'recovered', detail, at: iso(clock) } });
      await until('the event', async () =>
        db.selectFrom('node_events').select('id').where('detail', '=', detail).executeTakeFirst(),
      );
    },
    stored: async (slots: readonly Slot[]) => {
      const kept = await db.selectFrom('slots').select(['slot', 'state', 'iccid']).execute();
      return shown(kept) === shown(slots);
    },
    listed: async () => (await operator.call('nodes', {})).find(({ name }) => name === 'rack'),
  };
}

const iso = (clock: ManualClock): string => new Date(clock.now()).toISOString();

const shown = (slots: ReadonlyArray<{ slot: string; state: string; iccid: string | null }>): string =>
  slots
    .map(({ slot, state, iccid }) => `${slot} ${state} ${iccid}`)
    .sort()
    .join();

/** Slots with the cards from `first` on. */
const cards = (count: number, first: number, change: Partial<Slot> = {}): Slot[] =>
  Array.from({ length: count }, (_, index) => slotAt(first + index, { slot: `m${index + 1}`, ...change }));

/** Sends reports until one waits, which the operator sees. It waits on, because the clock stands still. */
async function provoke(
  { node, stored, listed }: Awaited<ReturnType<typeof setup>>,
  next: (index: number) => Slot[],
): Promise<void> {
  const isLate = async () => (await listed())?.refused.reports !== undefined;
  for (let index = 0; !(await isLate()); index += 1) {
    const slots = next(index);
    report(node, ...slots);
    await until(`report ${index}`, async () => (await isLate()) || (await stored(slots)));
  }
}

for (const { about, admitNewSims, next } of [
  {
    about: 'new cards in each report, which are sold at once',
    admitNewSims: true,
    next: (index: number) => cards(150, 150 * (index % 60)),
  },
  {
    about: 'the same 96 cards in turn',
    admitNewSims: false,
    next: (index: number) => cards(48, 48 * (index % 2)),
  },
  {
    about: 'slots that flap',
    admitNewSims: false,
    next: (index: number) => cards(150, 0, { state: index % 2 === 0 ? 'searching' : 'registered' }),
  },
]) {
  t.test(`${about}: their writes are bounded, and the last report is stored`, async (t) => {
    const parts = await setup(t, { admitNewSims });
    const { clock, node, written, read, stored } = parts;
    await provoke(parts, next);
    const before = await written();
    for (let index = 0; index < 100; index += 1) report(node, ...next(index));
    const last = [...next(0).slice(1), slotAt(9_999, { slot: 'm1' })];
    report(node, ...last);
    await read();
    t.equal(await written(), before, 'a hundred more write nothing');
    t.notOk(await stored(last));
    clock.advance(PAUSE_MAX_MS);
    await until('the last one', () => stored(last));
    const rows = (await written()) - before;
    t.ok(rows <= 8 * last.length + 8, `${rows} rows, as one report writes`);
  });
}

t.test('events that come without end are kept, and most have no line in the log', async (t) => {
  let [lines, dropped] = [0, 0];
  const log: Logger = {
    ...silentLogger,
    info: (fields, message) => {
      if (message !== 'slot event') return;
      lines += 1;
      dropped += 'dropped_lines' in fields ? Number(fields.dropped_lines) : 0;
    },
    child: () => log,
  };
  const { clock, db, node, read } = await setup(t, { log });
  const event = { slot: 'm1', kind: 'recovery_step', detail: 'again', at: iso(clock) } as const;
  for (let count = 0; count < 6; count += 1) {
    for (let sent = 0; sent < 100; sent += 1) node.send({ type: 'event', event });
    await read();
  }
  // The log has other lines about the node, too.
  t.ok(lines > 490 && lines <= 500, `${lines} lines`);
  const before = lines;
  clock.advance(60_000);
  for (let sent = 0; sent < 100; sent += 1) node.send({ type: 'event', event });
  await read();
  t.ok(lines > before + 50 && lines <= before + 60, `${lines - before} in a minute: one a second`);
  t.equal(dropped, 6 * 101 - before, 'the next line has the number of those without one');
  const kept = await db.selectFrom('node_events').select('id').where('detail', '=', 'again').execute();
  t.equal(kept.length, 700);
});

t.test('a text waits for the reports before it, and for no later one', async (t) => {
  const parts = await setup(t);
  const { clock, db, node, read } = parts;
  const next = (index: number) => cards(150, 0, { state: index % 2 === 0 ? 'searching' : 'registered' });
  await provoke(parts, next);
  const isAcknowledged = node.report(received('hello'));
  await inTransaction(db, async (trx) => {
    await sql`select from nodes for no key update`.execute(trx);
    await until('the report is being stored', async () => {
      // Other tests share the server.
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      if (rows.length === 0) clock.advance(100);
      return rows.length > 0;
    });
    report(node, ...next(1));
    report(node, ...next(2));
    await read();
  });
  await isAcknowledged;
  t.pass('while the later report waits');
});

for (const { admitNewSims, max } of [
  { admitNewSims: false, max: 96 },
  { admitNewSims: true, max: 1_000 },
])
  t.test(`more than ${max} unknown cards within a day suspend a node`, async (t) => {
    const { node, listed, stored } = await setup(t, { admitNewSims });
    const count = max / 4;
    for (const turn of [0, 1, 2, 3]) {
      const reported = cards(count, count * turn);
      report(node, ...reported);
      await until('its cards', () => stored(reported));
      t.match(await listed(), { is_suspended: false });
    }
    report(node, ...cards(1, max));
    await until('the suspension', async () => (await listed())?.is_suspended);
  });

t.test('a rack of 64 modems that is plugged in again is stored at once', async (t) => {
  const { node, stored, listed } = await setup(t, { slots: cards(64, 0) });
  const unknown = { iccid: null, number: null };
  const step = async (slots: Slot[]): Promise<void> => {
    report(node, ...slots);
    await until('the report', () => stored(slots));
  };
  await until('the rack', () => stored(cards(64, 0)));
  const modems = cards(64, 0, { state: 'lost' });
  await step(modems);
  for (const change of [{ state: 'starting', ...unknown }, { state: 'searching' }, {}] as const)
    for (const [index, slot] of cards(64, 0).entries()) {
      modems[index] = { ...slot, ...change };
      if (index % 4 === 3) await step([...modems]);
    }
  t.same((await listed())?.refused, {});
});
