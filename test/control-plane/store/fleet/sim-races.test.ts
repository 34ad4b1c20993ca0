// Reports of nodes and transfers by operators that meet: none ends the other's work, and there is no deadlock.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { revokeNode } from '#control-plane/store/fleet/nodes.ts';
import { transferSim } from '#control-plane/store/fleet/sim-transfer.ts';
import { replaceSlots } from '#control-plane/store/fleet/sims.ts';
import { waitsForLock } from '../../../fixtures/database/locks.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { until } from '../../../fixtures/until.ts';

const postgres = await openDatabases(t);

const SIM = slotAt(1);
const ICCID = String(SIM.iccid);
const RULES = { waitMs: 60_000, servedSince: new Date(0), isLinkedHere: () => true, admitsNew: true };

async function setUp(t: Test) {
  const db = await openTestDatabase(t, await postgres.createMigrated());
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

t.test('of two nodes that report a new SIM at once, the second loses', async (t) => {
  const { db, report, holders } = await setUp(t);
  // The second has seen no holder when it stops here.
  const gate = await db.startTransaction().execute();
  await sql`lock table sim_claims in access exclusive mode`.execute(gate);
  const second = report('rack-8');
  await until('it waits', waitsForLock(db));
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

/** rack-7 holds the SIM, and rack-8 has claimed it. */
async function contested(t: Test) {
  const parts = await setUp(t);
  await parts.report('rack-7');
  t.match(await parts.report('rack-8'), { refused: 1 });
  const transfer = () => transferSim(parts.db, { node: 'rack-8', slot: SIM.slot, now: new Date() });
  return { ...parts, transfer };
}

t.test('a transfer waits for a report of the same node, and does not stop it', async (t) => {
  const { db, transfer, holders } = await contested(t);
  // As `replaceSlots` does: the node, its tenures, its claims.
  const report = await db.startTransaction().execute();
  await sql`select from nodes where id = 'rack-8' for update`.execute(report);
  await sql`select from sim_tenures where iccid = ${ICCID} for update`.execute(report);
  const transferred = transfer();
  await until('it waits', waitsForLock(db));
  await sql`update sim_claims set seen_at = now() where node_id = 'rack-8'`.execute(report);
  await report.commit().execute();
  t.same(await transferred, { iccid: ICCID, from: 'rack-7' });
  t.same(await holders(), ['rack-8']);
});

t.test('a transfer to a revoked node is refused', async (t) => {
  const { db, transfer, holders } = await contested(t);
  await revokeNode(db, 'rack-8', new Date());
  await t.rejects(transfer(), { name: 'OperatorRefusal', message: /^rack-8 is revoked/ });
  t.same(await holders(), ['rack-7']);
});

t.test('a transfer that another report overtakes is refused, and can be repeated', async (t) => {
  const { db, transfer, holders } = await contested(t);
  await sql`delete from sim_tenures`.execute(db);
  const other = await db.startTransaction().execute();
  await sql`insert into sim_tenures (iccid, node_id, slot, since, sighting, sighting_since)
    values (${ICCID}, 'rack-7', 'm1', now(), 'present', now())`.execute(other);
  const transferred = t.rejects(transfer(), { name: 'OperatorRefusal', message: /Run the command again/ });
  await until('it waits', waitsForLock(db));
  await other.commit().execute();
  await transferred;
  t.same(await holders(), ['rack-7']);
  t.same(await transfer(), { iccid: ICCID, from: 'rack-7' });
});
