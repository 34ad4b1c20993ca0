// The fleet snapshot of numbers: their holders, and whether they can be sold in their place.
import { sql } from 'kysely';
import t from 'tap';
import { readFleet } from '#control-plane/store/fleet/fleet-nodes.ts';
import { putSlotInService, takeSlotOutOfService } from '#control-plane/store/fleet/slot-service.ts';
import { readSamples, takeSample } from '#control-plane/store/operations/samples.ts';
import { ALICE } from '../../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const MINUTE_MS = 60_000;

t.test('a number that is out of service, or sits in a slot that is, is on sale nowhere', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const slots = [slotAt(1), slotAt(2), slotAt(3), slotAt(4), slotAt(5, { state: 'searching' })];
  const node = await rig.connect(t, url, { nodeId: 'lab', slots });
  const db = await openTestDatabase(t, databaseUrl);
  const uses = async () => {
    const [lab] = await readFleet(db, new Date());
    return lab?.slots.map(({ use }) => use);
  };
  t.same(await uses(), ['on_sale', 'on_sale', 'on_sale', 'on_sale', 'offline']);

  await subscribeInStore(databaseUrl, ALICE, '+12065550001');
  const out = (slot: string, by: 'operator' | 'probe') =>
    takeSlotOutOfService(db, { node: 'lab', slot, reason: 'a bent pin', by, now: new Date() });
  await out('m1', 'operator');
  await out('m2', 'operator');
  await out('m3', 'probe');
  await sql`update numbers set out_of_service_at = now() where number in ('+12065550001', '+12065550004')`.execute(
    db,
  );
  t.same(await uses(), ['held', 'out_of_service', 'out_of_service', 'out_of_service', 'offline']);
  const now = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 30 * MINUTE_MS);
  await takeSample(db, await readFleet(db, new Date()), now);
  const span = { since: now, until: new Date(now.getTime() + MINUTE_MS), stepMs: MINUTE_MS };
  t.match(await readSamples(db, span), [{ available: 0, held: 1 }], 'nor counted as such');

  await putSlotInService(db, { node: 'lab', slot: 'm2', now: new Date() });
  t.equal((await uses())?.[1], 'on_sale');
  await node.drop();
  const links = () => sql`select 1 from nodes where link_id is not null`.execute(db);
  await until('the service has closed the link', async () => (await links()).rows.length === 0);
  await sql`update nodes set link_alive_until = null`.execute(db);
  t.same(await uses(), ['held', 'offline', 'out_of_service', 'out_of_service', 'offline']);
});
