// Two SIMs of two nodes report one number, and neither has proven it: it is not sold until an operator or a probe decides.
import t, { type Test } from 'tap';
import type { Slot } from '#shared/link/slot.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { heard } from '../../fixtures/nodes/heard.ts';
import {
  acceptAll,
  type Command,
  linkNode,
  type ScriptedNode,
  slotAt,
} from '../../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const CARDS = Array.from({ length: 30 }, (_, index) => slotAt(index + 1));

/** Made-up SIMs with the numbers of the cards. */
const squatters = (change: Partial<Slot> = {}): Slot[] =>
  CARDS.map(({ number }, index) => slotAt(index + 1001, { slot: `r${index}`, number, ...change }));

const listOf = (slots: readonly Slot[]) =>
  slots.map(({ number, iccid }, index) => ({
    line: index + 1,
    number: String(number),
    iccid: String(iccid),
  }));

async function setUp(t: Test, options: Parameters<typeof rig.start>[1] = {}) {
  const { url, databaseUrl } = await rig.start(t, { heartbeatMs: 500, ...options });
  const operator = await openTestOperator(t, { databaseUrl, url });
  return {
    operator,
    available: () => availableAt(url),
    row: async () => (await operator.call('numbers', { limit: 1 })).rows[0],
    connect: async (name: string, slots: Slot[], onCommand = acceptAll) => {
      const linked = await linkNode(t, url, { nodeId: name, slots, onCommand });
      await heard(linked);
      return linked;
    },
  };
}

for (const admitNewSims of [true, false])
  t.test(
    `a squatted number is not sold; the list of the operator wins, ADMIT_NEW_SIMS=${admitNewSims}`,
    async (t) => {
      const { available, connect, operator, row } = await setUp(t, { admitNewSims });
      const rogue = await connect('rogue', squatters({ state: 'searching' }));
      await connect('rack-1', CARDS);
      t.equal(await available(), 0, 'neither node has proof');
      const reason = `disputed: also reported by SIM ${CARDS[0]?.iccid} in rack-1/m1`;
      t.match(await row(), { state: 'unadmitted', node: 'rogue', reason });
      rogue.send({ type: 'slots', slots: squatters(), alarms: [] });
      await until('the squatter is registered', async () => (await row())?.slot === 'r0');
      await connect('rack-2', [slotAt(40)]);
      t.equal(await available(), admitNewSims ? 1 : 0);
      const number = String(CARDS[0]?.number);
      await t.rejects(operator.call('admitNumber', { number }), /Two SIMs report/);
      const list = listOf(CARDS);
      t.same(await operator.call('importNumbers', { rows: list }), { added: 30, back: 0, known: 0 });
      t.equal(await available(), admitNewSims ? 31 : 30, 'at once');
      t.match(await row(), { state: 'available', node: 'rack-1', reason: null });
      // Not only its signal: such a report is judged once a minute.
      rogue.send({ type: 'slots', slots: squatters({ operator: 'Another' }), alarms: [] });
      await until('it is refused', async () => {
        const node = (await operator.call('nodes', {})).find(({ name }) => name === 'rogue');
        return (node?.refused.numbers ?? 0) >= 30;
      });
      t.equal(await available(), admitNewSims ? 31 : 30);
    },
  );

t.test('a sold or proven number is not disputed, and no squatter wins by a restart', async (t) => {
  const { available, connect, operator, row } = await setUp(t, { admitNewSims: true });
  const number = String(CARDS[0]?.number);
  await operator.call('importNumbers', { rows: listOf(CARDS.slice(1)) });
  const honest = await connect('rack-1', CARDS);
  t.equal(await available(), 30);
  const rogue = await connect('rogue', squatters());
  t.equal(await available(), 29, 'only the number without proof');
  // Its modem restarts, and the squatter reports on.
  honest.send({ type: 'slots', slots: [], alarms: [] });
  rogue.send({ type: 'slots', slots: squatters({ signal_dbm: -50 }), alarms: [] });
  await until('it is seen', async () => (await row())?.node === null);
  t.match(await row(), { state: 'unadmitted' });
  honest.send({ type: 'slots', slots: CARDS, alarms: [] });
  await until('it is back', async () => (await row())?.node === 'rack-1');
  rogue.send({ type: 'slots', slots: [], alarms: [] });
  await until('the dispute is over', async () => (await row())?.reason === null);
  t.equal(await available(), 29, 'an operator has the last word');
  await operator.call('admitNumber', { number });
  t.equal(await available(), 30);
});

t.test('the probe of the honest SIM wins', async (t) => {
  const { connect, operator, row } = await setUp(t, {
    admitNewSims: false,
    probeMinutes: 1,
    probeTimeoutMs: 2_000,
    heartbeatMs: 10_000,
  });
  const [known, fresh] = [slotAt(40), CARDS[0]] as [Slot, Slot];
  await operator.call('importNumbers', { rows: listOf([known]) });
  const nodes = new Map<string, ScriptedNode>();
  // The network knows the numbers of the real SIMs only; a made-up one cannot send.
  const carry = (command: Command) => {
    const { to, body, iccid } = command.params as { to: string; body: string; iccid: string };
    const sender = [known, fresh].find((slot) => slot.iccid === iccid);
    const [name, target] = to === known.number ? ['rack-0', known] : ['rack-1', fresh];
    const node = nodes.get(name);
    if (command.name === 'send_sms' && sender !== undefined)
      void node?.report({ ...received(body, String(sender.number)), iccid: String(target.iccid) });
    return acceptAll(command);
  };
  nodes.set('rack-0', await connect('rack-0', [known], carry));
  await connect('rogue', squatters().slice(0, 1), carry);
  nodes.set('rack-1', await connect('rack-1', [fresh], carry));
  t.match(await row(), { state: 'unadmitted', node: 'rogue' });
  await until('it is proven', async () => (await row())?.state === 'available', 60_000);
  t.match(await row(), { node: 'rack-1', iccid: String(fresh.iccid), reason: null });
});
