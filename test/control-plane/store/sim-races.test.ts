// Reports of nodes and transfers by operators that meet: nobody ends what another began, and nobody waits in a circle.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { type Database, openDatabase } from '#control-plane/store/database.ts';
import { replaceSlots } from '#control-plane/store/sims.ts';
import { startPostgres } from '../../fixtures/postgres.ts';
import { slotAt } from '../../fixtures/scripted-node.ts';
import { until } from '../../fixtures/until.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

const SIM = slotAt(1);
const ICCID = String(SIM.iccid);
const RULES = { waitMs: 60_000, servedSince: new Date(0), isLinkedHere: () => true, admitsNew: true };

async function setUp(t: Test) {
  const { db, close } = await openDatabase({ url: await postgres.createDatabase(), connectionsMax: 4 });
  t.teardown(close);
  await sql`insert into nodes (id, link_id) values ('rack-7', 'link-rack-7'), ('rack-8', 'link-rack-8')`.execute(
    db,
  );
  const report = (nodeId: string) =>
    replaceSlots(db, { nodeId, linkId: `link-${nodeId}` }, [SIM], { ...RULES, now: new Date() });
  const holders = async () =>
    (await db.selectFrom('sim_tenures').select('node_id').where('until', 'is', null).execute()).map(
      ({ node_id }) => node_id,
    );
  return { db, report, holders };
}

/** Resolves when so many statements wait for another transaction. */
const waiting = (db: Database, count: number) =>
  until('they wait', async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows[0]?.count === count;
  });

t.test('of two nodes that report a new SIM at once, the second loses', async (t) => {
  const { db, report, holders } = await setUp(t);
  // The second has seen no holder when it stops here.
  const gate = await db.startTransaction().execute();
  await sql`lock table sim_claims in access exclusive mode`.execute(gate);
  const second = report('rack-8');
  await waiting(db, 1);
  await sql`insert into sim_tenures (iccid, node_id, slot, since, sighting, sighting_since)
    values (${ICCID}, 'rack-7', 'm1', now(), 'present', now())`.execute(db);
  await gate.commit().execute();
  t.match(await second, { taken: [], refused: 1, tenures: 0 });
  t.same(await holders(), ['rack-7']);
  t.same(await db.selectFrom('sims').select('iccid').execute(), [], 'its report counts nowhere');
  t.match(await report('rack-8'), { taken: [], refused: 1 }, 'and it has a claim like any other');
  t.match(await db.selectFrom('sim_claims').selectAll().execute(), [
    { node_id: 'rack-8', cause: 'contested' },
  ]);
});
