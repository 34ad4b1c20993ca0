// Subscriptions that wait for their SIM are bound when its slot comes up, also while another one is being bound.
import t from 'tap';
import { openDatabase } from '#control-plane/store/database.ts';
import { createRig } from '../../fixtures/rig.ts';
import { acceptAll, slotAt } from '../../fixtures/scripted-node.ts';
import { subscribeInStore } from '../../fixtures/subscribed.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('a SIM that registers while another is being bound is bound after it', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  t.teardown(close);
  const searching = slotAt(2, { state: 'searching' });
  const node = await rig.connect(t, url, { slots: [slotAt(1), searching], onCommand: () => undefined });
  for (const [index, digit] of [
    [1, 'a'],
    [2, 'b'],
  ] as const) {
    await subscribeInStore(databaseUrl, { address: `0x${digit.repeat(40)}` }, String(slotAt(index).number));
  }
  await db.updateTable('sims').set({ bound_to: null }).execute();
  const bindings = () => node.commands('bind_sim');
  node.send({ type: 'slots', slots: [slotAt(1, { signal_dbm: -80 }), searching], alarms: [] });
  const first = await until('the first is asked for', () => bindings()[0]);
  node.send({ type: 'slots', slots: [slotAt(1), slotAt(2)], alarms: [] });
  const registered = () => db.selectFrom('sims').select('iccid').where('state', '=', 'registered').execute();
  await until('both are registered', async () => (await registered()).length === 2);
  const answer = acceptAll(first);
  if (answer !== undefined) node.send(answer);
  const second = await until('the second is asked for', () => bindings()[1], 4_000);
  t.match(second.params, { iccid: slotAt(2).iccid });
});
