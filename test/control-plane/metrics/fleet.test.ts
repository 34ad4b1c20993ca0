// Metrics of nodes at the service, for nodes that Prometheus cannot reach: what they report, and what a rogue node cannot do with it.
import t from 'tap';
import { FORGOTTEN_AFTER_MS, NAMES_MAX, SlotNames } from '#control-plane/metrics/slot-names.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { readExposition, readingOf } from '../../fixtures/service/exposition.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

async function start(t: Parameters<typeof rig.start>[0]) {
  const { service, url } = await rig.start(t, { metricsPort: 0 });
  const page = async () =>
    readExposition(await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics/nodes`)).text());
  return { url, page, own: `http://127.0.0.1:${service.metricsPort}/metrics` };
}

t.test(
  'state, signal, storage, journal and alarms of each node, by the name that its operator gave it',
  async (t) => {
    const { url, page, own } = await start(t);
    const storage = { used: 3, total: 40 };
    const lost = slotAt(2, { state: 'lost', iccid: null, number: null, signal_dbm: null });
    const node = await rig.connect(t, url, {
      nodeId: 'rack-1',
      slots: [slotAt(1, { storage, signal_dbm: -77 }), lost],
      alarms: ['modem_given_up'],
    });
    const read = await until('both slots', async () => {
      const families = await page();
      return readingOf(families, 'simrack_fleet_slot_signal_dbm') === -77 ? families : undefined;
    });
    const of = (name: string, labels: Record<string, string>) =>
      readingOf(read, `simrack_fleet_${name}`, { node: 'rack-1', ...labels });
    t.equal(of('node_linked', {}), 1);
    t.equal(of('slot_state', { slot: 'm1', state: 'registered' }), 1);
    t.equal(of('slot_state', { slot: 'm2', state: 'lost' }), 1);
    t.equal(of('slot_signal_dbm', { slot: 'm2' }), undefined);
    t.equal(of('slot_storage_used', { slot: 'm1' }), 3);
    t.equal(of('slot_storage_size', { slot: 'm1' }), 40);
    t.equal(of('node_alarm', { alarm: 'modem_given_up' }), 1);
    t.notMatch(await (await fetch(own)).text(), 'simrack_fleet_');

    await node.drop();
    const away = await until('the link has ended', async () => {
      const families = await page();
      return readingOf(families, 'simrack_fleet_node_linked', { node: 'rack-1' }) === 0
        ? families
        : undefined;
    });
    t.equal(readingOf(away, 'simrack_fleet_slot_state', { node: 'rack-1' }), undefined, 'no state is known');
  },
);

t.test(
  'a rogue node has no series of others, no labels of its choice, and no more than its share',
  async (t) => {
    const { url, page } = await start(t);
    await rig.connect(t, url, { nodeId: 'honest', slots: [slotAt(1)] });
    const forged = '"} 1\nsimrack_fleet_node_linked{node="honest"} 0\n{';
    // One line of text may hold quotes, but no control characters: only a harmless form passes the link.
    const rogue = await linkNode(t, url, {
      nodeId: 'rogue',
      slots: [{ ...slotAt(2), slot: forged.replaceAll('\n', ' ') }],
      alarms: ['no_modem', 'made_up_1', 'made_up_2'],
    });
    const slotsOf = async (): Promise<number> => {
      const families = await page();
      t.equal(readingOf(families, 'simrack_fleet_node_linked', { node: 'honest' }), 1);
      return [...families.values()]
        .flatMap(({ name, samples }) => (name === 'simrack_fleet_slot_state' ? samples : []))
        .filter(({ labels }) => labels['node'] === 'rogue').length;
    };
    await until('its slot', async () => (await slotsOf()) === 1);
    t.equal(readingOf(await page(), 'simrack_fleet_node_alarm', { node: 'rogue' }), 1, 'known alarms only');

    const named = (round: number) =>
      Array.from({ length: NAMES_MAX }, (_each, index) => ({
        ...slotAt(3, { iccid: null, number: null, device_id: null }),
        slot: `round ${round} slot ${index}`,
      }));
    for (const round of [1, 2]) {
      rogue.send({ type: 'slots', slots: named(round), alarms: [] });
      await until('the report is stored', async () => {
        const hidden = readingOf(await page(), 'simrack_fleet_node_hidden_slots', { node: 'rogue' });
        return hidden === (round === 1 ? 1 : NAMES_MAX);
      });
    }
    t.equal(await slotsOf(), 0, 'new names have no series');
  },
);

t.test('a name makes room a day after the node last reported it', async (t) => {
  const names = new SlotNames();
  const all = Array.from({ length: NAMES_MAX }, (_each, index) => `m${index}`);
  t.equal(names.admit('rack', all, 0).size, NAMES_MAX);
  t.equal(names.admit('rack', ['other'], 1).size, 0);
  t.equal(names.admit('second', ['other'], 1).size, 1, 'each node has its own share');
  t.equal(names.admit('rack', ['other', 'm1'], FORGOTTEN_AFTER_MS).size, 1);
  t.same([...names.admit('rack', ['other', 'm1'], FORGOTTEN_AFTER_MS + 1)], ['other', 'm1']);
});
