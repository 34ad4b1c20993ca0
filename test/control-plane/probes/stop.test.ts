// Tests of operators, and rounds, that wait for a node or an RPC: how many there are at once, and that a stop does not wait for them.
import t, { type Test } from 'tap';
import { startRpcProxy } from '../../fixtures/chain/rpc-proxy.ts';
import { acceptAll, type Command, type ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

/** A supervisor waits ten seconds. */
const STOP_MS_MAX = 9_000;
const TESTS_MAX = 16;

const rig = await createRig();

/** Two SIMs at a node that answers no text. */
async function silentNode(t: Test, service: Parameters<typeof rig.start>[1] = {}) {
  const started = await rig.start(t, service);
  const onCommand = (command: Command) => (command.name === 'send_sms' ? undefined : acceptAll(command));
  const node = await rig.connect(t, started.url, { slots: [slotAt(1), slotAt(2)], onCommand });
  const operator = await openTestOperator(t, started);
  const [from, to] = [String(slotAt(1).number), String(slotAt(2).number)];
  return { ...started, node, test: () => operator.call('sendTest', { from, to }) };
}

async function stopsInTime(t: Test, service: { stop(): Promise<void> }, node: ScriptedNode) {
  const begunAt = performance.now();
  await service.stop();
  const tookMs = Math.round(performance.now() - begunAt);
  t.ok(tookMs < STOP_MS_MAX, `${tookMs} ms: sooner than a supervisor ends it`);
  t.ok(
    node.frames.some(({ type }) => type === 'drain'),
    'its nodes know',
  );
}

t.test('sixteen tests at once, and a stop in the middle of them', async (t) => {
  const { node, service, test } = await silentNode(t);
  const begun = await Promise.allSettled(Array.from({ length: TESTS_MAX + 4 }, test));
  t.equal(begun.filter(({ status }) => status === 'fulfilled').length, TESTS_MAX);
  await until('their texts are at the node', () => node.commands('send_sms').length === TESTS_MAX);
  await stopsInTime(t, service, node);
});

t.test('a stop while the RPC does not answer', async (t) => {
  const line = await startRpcProxy(t, rig.chain.rpcUrl);
  line.interfere = async (method, forward) =>
    method === 'eth_getTransactionCount' ? new Promise(() => undefined) : forward();
  const { node, service } = await silentNode(t, { rpcUrl: line.url });
  await until('the first round asks', () => line.asked.includes('eth_getTransactionCount'));
  await stopsInTime(t, service, node);
});
