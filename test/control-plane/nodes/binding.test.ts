// A number is a SIM: its subscription is bound where the node confirmed it, follows it, and stays active without it.
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Slot } from '#shared/link/slot.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { subscriber } from '../../fixtures/agents/subscriber.ts';
import { telephoneClient } from '../../fixtures/agents/telephone.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import {
  acceptAll,
  linkNode,
  type ScriptedNode,
  type ScriptedNodeOptions,
  slotAt,
} from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const HEARTBEAT_MS = 100;
const TEXT = { to: '+13105550188', body: 'hi' };
const EMPTY = { iccid: null, number: null, state: 'sim_absent' } as const;

const report = (node: ScriptedNode, ...slots: Slot[]): void =>
  node.send({ type: 'slots', slots, alarms: [] });

const NO_SERVICE = /^The number has no service now\. The message was not sent\. Try again later/;

/** Answers as a node does that sends, and confirms SIMs while `confirms` is true. */
function confirming() {
  const answers: Required<Pick<ScriptedNodeOptions, 'onCommand'>> & { confirms: boolean } = {
    confirms: true,
    onCommand: (command) =>
      command.name === 'bind_sim' && !answers.confirms
        ? { type: 'refusal', id: command.id, code: 'slot_unavailable', message: 'not yet' }
        : acceptAll(command),
  };
  return answers;
}

async function setUp(t: Test) {
  const answers = confirming();
  const parts = await subscriber(t, rig, {
    nodeId: 'first',
    service: { heartbeatMs: HEARTBEAT_MS },
    onCommand: answers.onCommand,
  });
  const unbound = async (what: string, says = /provisioned/) => {
    const refused = await until(what, async () => {
      const answer = await parts.send(TEXT);
      return says.test(String(answer.body['message'])) && answer;
    });
    t.match(refused, { status: 502, body: { error: 'phone_node_error' } }, what);
    t.equal((await parts.get('/number')).status, 200, `${what}: still active`);
  };
  const bound = (what: string) => until(what, async () => (await parts.send(TEXT)).status === 200);
  return { ...parts, answers, unbound, bound };
}

t.test('a number is unbound until its node has confirmed it, which is asked again', async (t) => {
  const { url } = await rig.start(t, { heartbeatMs: HEARTBEAT_MS });
  const answers = confirming();
  answers.confirms = false;
  const node = await rig.connect(t, url, answers);
  const { token } = await buyNumber(url, ALICE.privateKey);
  const send = () => fetch(`${url}/sms/send`, jsonPost(TEXT, { Authorization: `Bearer ${token}` }));
  t.match(await (await send()).json(), { error: 'phone_node_error', message: /provisioned/ });
  t.equal(node.commands('send_sms').length, 0);
  await until('it is asked again', () => node.commands('bind_sim').length > 2);
  answers.confirms = true;
  await until('bound', async () => (await send()).status === 200);
  const asked = node.commands('bind_sim').length;
  await pause(3 * HEARTBEAT_MS);
  t.equal(node.commands('bind_sim').length, asked, 'and then no more');
});

t.test('a number that another instance sold is bound as well', async (t) => {
  const { url, databaseUrl } = await rig.start(t, { heartbeatMs: HEARTBEAT_MS });
  const node = await rig.connect(t, url);
  const { url: otherUrl } = await rig.start(t, { databaseUrl });
  await buyNumber(otherUrl, ALICE.privateKey);
  await until('it is asked for', () => node.commands('bind_sim').length > 0);
});

t.test('a SIM that moves to another slot is confirmed there', async (t) => {
  const { node, answers, unbound, bound } = await setUp(t);
  answers.confirms = false;
  report(node, slotAt(1, EMPTY), slotAt(1, { slot: 'm9', device_id: '350000000009999' }));
  await unbound('not confirmed in the new slot');
  answers.confirms = true;
  await bound('confirmed');
});

t.test('a SIM that moves to another node keeps its subscription', async (t) => {
  const { url, node, answers, unbound, bound } = await setUp(t);
  report(node, slotAt(1, { state: 'lost' }));
  const elsewhere = confirming();
  elsewhere.confirms = false;
  const other = await linkNode(t, url, {
    nodeId: 'second',
    slots: [slotAt(1, { slot: 'm7' })],
    ...elsewhere,
  });
  await unbound('not confirmed on the new node');
  const before = node.commands('send_sms').length;
  elsewhere.confirms = true;
  await bound('confirmed');
  t.ok(other.commands('send_sms').length > 0);
  t.equal(node.commands('send_sms').length, before, 'the old node is not asked to send');
  t.equal(answers.confirms, true);
});

t.test(
  'a SIM that is gone leaves the subscription active and unbound; back in its slot it is bound',
  async (t) => {
    const { node, answers, unbound, bound } = await setUp(t);
    report(node, slotAt(1, EMPTY));
    await unbound('gone', NO_SERVICE);
    answers.confirms = false;
    report(node, slotAt(1, { state: 'searching' }));
    report(node, slotAt(1));
    await unbound('back, and not confirmed');
    answers.confirms = true;
    await bound('confirmed');
  },
);

t.test('a modem that is lost and comes back with its SIM stays bound', async (t) => {
  const { databaseUrl, node, answers, bound } = await setUp(t);
  const db = await openTestDatabase(t, databaseUrl);
  answers.confirms = false;
  for (const [state, signal_dbm] of [
    ['lost', -61],
    ['searching', -62],
    ['registered', -63],
  ] as const) {
    report(node, slotAt(1, { state, signal_dbm }));
    const sim = () => db.selectFrom('sims').select('signal_dbm').executeTakeFirst();
    await until(state, async () => (await sim())?.signal_dbm === signal_dbm);
  }
  await bound('without another confirmation');
  t.equal(node.commands('bind_sim').length, 0);
});

t.test(
  'a revoked node leaves its numbers unbound, whatever it reports; once it is enrolled again they are bound',
  async (t) => {
    const { url, databaseUrl, node, unbound, bound } = await setUp(t);
    const operator = await openTestOperator(t, { databaseUrl, url });
    await operator.call('revokeNode', { node: 'first' });
    node.send({ type: 'slots', slots: [slotAt(1)], alarms: [] });
    await unbound('revoked', NO_SERVICE);
    await until('its link has ended', () => node.closeCode === 4403);
    t.match(await operator.call('nodes', {}), [{ name: 'first', state: 'revoked', sims: 0 }]);
    await linkNode(t, url, { nodeId: 'second', slots: [slotAt(1)] });
    await bound('on a node that is in service');
  },
);

t.test('a node that is away: 502, active, and bound as before when it is back', async (t) => {
  const { url, node, send, get } = await setUp(t);
  await node.drop();
  t.match(await send(TEXT), { status: 502, body: { error: 'phone_node_error', message: /offline/ } });
  t.equal((await get('/number')).status, 200);
  const back = await linkNode(t, url, { nodeId: 'first', journalId: 'journal-1' });
  await until('it sends', async () => (await send(TEXT)).status === 200);
  t.equal(back.commands('bind_sim').length, 0);
});

t.test('a confirmation that comes after the SIM moved does not count', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const db = await openTestDatabase(t, databaseUrl);
  const node = await rig.connect(t, url, { onCommand: () => undefined });
  await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number));
  await db.updateTable('sims').set({ bound_to: 'sub_of_an_earlier_holder' }).execute();
  report(node, slotAt(1, { signal_dbm: -50 }));
  const asked = await until('it is asked for', () => node.commands('bind_sim')[0]);
  report(node, slotAt(1, EMPTY));
  const other = await linkNode(t, url, { nodeId: 'second', slots: [slotAt(1)], onCommand: () => undefined });
  await until('the other is asked', () => other.commands('bind_sim').length === 1);
  const late = acceptAll(asked);
  if (late !== undefined) node.send(late);
  report(node, slotAt(2));
  const sims = async () => db.selectFrom('sims').select(['node_id', 'bound_to']).orderBy('iccid').execute();
  await until('its next word', async () => (await sims()).length === 2);
  t.match((await sims())[0], { node_id: 'second', bound_to: null });
});

t.test('the number of a revoked node has no service, which texts and calls say', async (t) => {
  const { databaseUrl, headers, number, unbound, url } = await setUp(t);
  const operator = await openTestOperator(t, { databaseUrl, url });
  await operator.call('revokeNode', { node: 'first' });
  await unbound('revoked', NO_SERVICE);
  t.match(await telephoneClient(t, { url, headers, number }).dial(), {
    status: 409,
    body: {
      error: 'subscription_not_bound',
      message: 'The number has no service now. Try again later, or ask the operator.',
    },
  });
});
