// A node whose claim was refused tries again when another one may have released the SIM, not whenever another one reports anything.
import { Client } from 'pg';
import t from 'tap';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { countStatements } from '../../fixtures/database/statements.ts';
import { honestNode, VICTIM } from '../../fixtures/nodes/honest-node.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const EVENTS = 60;
/** Three store the event. To store the slots of a node again takes ten or more, at most once for some events together. */
const STATEMENTS_PER_EVENT_MAX = 4;

t.test('events of one node cost the others nothing', async (t) => {
  // No beat and no round of the service adds statements, however long it takes.
  const clock = new ManualClock();
  const service = { clock, heartbeatMs: 3_600_000 };
  const { url, databaseUrl, db, listed } = await honestNode(t, rig, { service });
  // Its statements are not counted.
  const client = new Client(databaseUrl);
  await client.connect();
  t.teardown(() => client.end());
  await linkNode(t, url, { nodeId: 'refused', slots: [slotAt(1, { slot: 'm7' })] });
  const refused = [{ slot: 'm7', reason: 'claim_refused' }];
  await until('its claim is refused', async () => {
    const slots = (await listed('refused'))?.unregistered_slots ?? [];
    return JSON.stringify(slots.map(({ slot, reason }) => ({ slot, reason }))) === JSON.stringify(refused);
  });
  const noisy = await linkNode(t, url, { nodeId: 'noisy', slots: [slotAt(20)] });
  await until('its slot is stored', async () => (await listed('noisy'))?.sims === 1);
  const statements = countStatements(t);
  for (let sent = 1; sent <= EVENTS; sent += 1) {
    const at = new Date().toISOString();
    noisy.send({ type: 'event', event: { slot: 'm20', kind: 'recovery_step', detail: `${sent}`, at } });
    await until('it is stored', async () => {
      const { rows } = await client.query('select from node_events');
      return rows.length === sent;
    });
  }
  const count = statements();
  t.ok(count < EVENTS * STATEMENTS_PER_EVENT_MAX, `${count} statements`);
  const holder = await db.selectFrom('sims').select('node_id').where('iccid', '=', VICTIM).execute();
  t.same(holder, [{ node_id: 'honest' }]);
});
