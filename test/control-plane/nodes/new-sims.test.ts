// Unknown SIMs are sold once an operator or a probe has admitted them.
import t from 'tap';
import type { Slot } from '#shared/link/slot.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { heard, report } from '../../fixtures/nodes/heard.ts';
import { acceptAll, linkNode, ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('a SIM never seen before is sold once it is admitted or imported', async (t) => {
  const { url, databaseUrl } = await rig.start(t, { admitNewSims: false });
  const operator = await openTestOperator(t, { databaseUrl, url });
  const node = await linkNode(t, url, { nodeId: 'new', slots: [slotAt(1), slotAt(2), slotAt(3)] });
  await heard(node);
  const available = () => availableAt(url);
  const [first, second] = [String(slotAt(1).number), String(slotAt(2).number)];
  t.equal(await available(), 0);
  const { rows } = await operator.call('numbers', { state: 'unadmitted', limit: 10 });
  t.equal(rows.length, 3);
  await operator.call('admitNumber', { number: first });
  t.equal(await available(), 1);
  await t.rejects(operator.call('admitNumber', { number: first }), /already admitted/);
  // The operator's list wins over what a node reports.
  const imported = [{ line: 1, number: second, iccid: '8901000000000000777' }];
  t.same(await operator.call('importNumbers', { rows: imported }), { added: 1, back: 0, known: 0 });
  t.equal(await available(), 1, 'its SIM is in no slot');
  report(node, slotAt(1), slotAt(2, { iccid: '8901000000000000777' }));
  await until('it is there', async () => (await available()) === 2);
  const after = (await operator.call('numbers', { limit: 10 })).rows.map(({ number }) => number);
  t.same(after, [first, second], 'a SIM that was not admitted is forgotten when it leaves');
});

t.test(
  'a probe each way with an admitted SIM of another node admits a SIM; a made-up one stays out',
  async (t) => {
    const { url, databaseUrl } = await rig.start(t, {
      admitNewSims: false,
      probeMinutes: 1,
      probeTimeoutMs: 2_000,
    });
    const operator = await openTestOperator(t, { databaseUrl, url });
    const air = new Map<string, { node: () => ScriptedNode; iccid: string }>();
    const carry = (from: string) => (command: Parameters<typeof acceptAll>[0]) => {
      if (command.name === 'send_sms') {
        const { to, body, iccid } = command.params as { to: string; body: string; iccid: string };
        const target = air.get(to);
        const sender = [...air].find(([, sim]) => sim.iccid === iccid)?.[0] ?? from;
        if (target !== undefined)
          void target.node().report({ ...received(body, sender), iccid: target.iccid });
      }
      return acceptAll(command);
    };
    const [one, two, made] = [1, 2, 3].map((index) => slotAt(index)) as [Slot, Slot, Slot];
    await operator.call('importNumbers', {
      rows: [{ line: 1, number: String(one.number), iccid: String(one.iccid) }],
    });
    const nodes: Record<string, ScriptedNode> = {};
    air.set(String(one.number), { node: () => nodes['first'] as ScriptedNode, iccid: String(one.iccid) });
    air.set(String(two.number), { node: () => nodes['second'] as ScriptedNode, iccid: String(two.iccid) });
    nodes['first'] = await ScriptedNode.connect(url, { nodeId: 'first', slots: [one], onCommand: carry('') });
    // The made-up SIM has a number that its node does not hold: a text to it arrives nowhere here.
    nodes['second'] = await ScriptedNode.connect(url, {
      nodeId: 'second',
      slots: [two, made],
      onCommand: carry(String(made.number)),
    });
    t.teardown(() => Promise.all(Object.values(nodes).map((node) => node.drop())));
    const stateOf = async (slot: Slot) =>
      (await operator.call('numbers', { number: String(slot.number), limit: 1 })).rows[0]?.state;
    await until('the real one is admitted', async () => (await stateOf(two)) === 'available', 60_000);
    t.equal(await stateOf(made), 'unadmitted');
    const db = await openTestDatabase(t, databaseUrl);
    const proven = await db.selectFrom('numbers').select(['number', 'unproven']).orderBy('number').execute();
    t.same(
      proven.map(({ unproven }) => unproven),
      [null, null, 'number'],
      'the holder of the imported one is proven as well',
    );
    t.equal(await stateOf(one), 'available', 'a made-up SIM takes no honest slot out of service');
  },
);
