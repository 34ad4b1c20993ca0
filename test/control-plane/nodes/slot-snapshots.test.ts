// Snapshots of slots: subscriptions that wait for their SIM are bound when its slot comes up, storage and journal are kept.
import t from 'tap';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { acceptAll, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('a SIM that registers while another is being bound is bound after it', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const db = await openTestDatabase(t, databaseUrl);
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

t.test('the fill of storages and journal is kept as last reported', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const db = await openTestDatabase(t, databaseUrl);
  const full = slotAt(1, { storage: { used: 16, total: 20 } });
  const node = await rig.connect(t, url, { slots: [full, slotAt(2)] });
  const sims = () =>
    db.selectFrom('sims').select(['storage_used', 'storage_total']).orderBy('iccid').execute();
  const depth = async () =>
    (await db.selectFrom('nodes').select('journal_depth').executeTakeFirst())?.journal_depth;
  await until('the slots', async () => (await sims()).length === 2);
  const unknown = { storage_used: null, storage_total: null };
  t.same(await sims(), [{ storage_used: 16, storage_total: 20 }, unknown]);
  t.equal(await depth(), null, 'a node that does not report it');
  const slots = [slotAt(1, { storage: { used: 0, total: 20 } }), slotAt(2)];
  node.send({ type: 'slots', slots, alarms: [], journal_depth: 4_711 });
  await until('the new depth', async () => (await depth()) === 4_711);
  await until('the empty storage', async () => (await sims())[0]?.storage_used === 0);
  node.send({ type: 'slots', slots: [slotAt(1), slotAt(2)], alarms: [], journal_depth: 0 });
  await until('no depth', async () => (await depth()) === 0);
  await until('a storage that is not known any more', async () => (await sims())[0]?.storage_used === null);
});

t.test('slots are kept, whatever characters a node sends', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const db = await openTestDatabase(t, databaseUrl);
  const text = 'a\u0000b\u001b[2J\ud800c';
  const received = { operator: text, model: text, usb_path: text, reason: text };
  const slots = [slotAt(1, received), slotAt(2, { state: 'lost', ...received })];
  await rig.connect(t, url, { slots, alarms: [text] });
  const stored = 'a\ufffdb\u001b[2J\ufffdc';
  const sims = await db.selectFrom('sims').selectAll().orderBy('iccid').execute();
  const kept = { operator: stored, model: stored, usb_path: stored, reason: stored };
  t.match(sims, [kept, kept]);
  const node = await until('all of it', async () => {
    const row = await db.selectFrom('nodes').selectAll().executeTakeFirst();
    return row?.alarms.length === 1 && row;
  });
  t.match(node, { alarms: [stored] });
  const reported = await db.selectFrom('slots').select(['slot', 'reason']).orderBy('slot').execute();
  t.same(reported, [
    { slot: 'm1', reason: stored },
    { slot: 'm2', reason: stored },
  ]);
});

t.test('a report in which only readings changed stores them, and a SIM whose row is gone', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const db = await openTestDatabase(t, databaseUrl);
  const node = await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  const sims = () =>
    db.selectFrom('sims').select(['slot', 'signal_dbm', 'swept_at']).orderBy('iccid').execute();
  await until('the slots', async () => (await sims()).length === 2);
  const report = (signalDbm: number, sweptAt: Date) =>
    node.send({
      type: 'slots',
      slots: [1, 2].map((index) => slotAt(index, { signal_dbm: signalDbm, swept_at: sweptAt.toISOString() })),
      alarms: [],
    });
  const signals = async () => (await sims()).map(({ signal_dbm: dbm }) => dbm);
  const sweptAt = new Date(Date.now() - 5_000);
  report(-81, sweptAt);
  await until('both signals', async () => (await signals()).join() === '-81,-81');
  t.same(
    (await sims()).map((sim) => sim.swept_at),
    [sweptAt, sweptAt],
  );
  report(-82, new Date(Date.now() + 3_600_000));
  await until('the next signals', async () => (await signals()).join() === '-82,-82');
  for (const { swept_at: at } of await sims())
    t.ok(at !== null && at <= new Date(), 'no sweep is later than now');
  await db.deleteFrom('sims').where('slot', '=', 'm2').execute();
  report(-83, sweptAt);
  await until('both SIMs', async () => (await signals()).join() === '-83,-83');
});
