// Texts between our own SIMs, over the real daemon and simulated modems: what arrives, what does not, and whose fault it is.
import t from 'tap';
import { maskedNumber } from '#control-plane/domain/shown-value.ts';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { type ModemStack, modemStack } from '../../fixtures/stacks/modem-stack.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const TIMEOUT_MS = 3_000;
const service = { probeTimeoutMs: TIMEOUT_MS };

function between({ operator, slotOf }: ModemStack) {
  const begin = async (from: number, to: number): Promise<string> =>
    (await operator.call('sendTest', { from: slotOf(from).number, to: slotOf(to).number })).id;
  const end = (id: string) =>
    until(
      'the end of a probe',
      async () => {
        const row = await operator.call('probe', { id });
        return row.result === null ? undefined : row;
      },
      30_000,
    );
  return { begin, end, probe: async (from: number, to: number) => end(await begin(from, to)) };
}

async function outOfService({ operator }: ModemStack): Promise<Array<string | null>> {
  const { rows } = await operator.call('slots', { limit: 100 });
  return rows.filter(({ out_of_service_at: at }) => at !== null).map(({ by, reason }) => `${by}: ${reason}`);
}

t.test('a text arrives, and is no subscriber’s message', { timeout: 180_000 }, async (t) => {
  const stack = await modemStack(t, rig, { modems: 2, service });
  const { operator, db, slotOf } = stack;
  const { number: from } = slotOf(0);
  const row = await between(stack).probe(0, 1);
  t.match(row, {
    kind: 'sms',
    is_scheduled: false,
    result: 'delivered',
    why: null,
    from_number: from,
    to_slot: slotOf(1).slot,
    latency_ms: Number,
  });
  t.ok(Number(row.latency_ms) > 0 && Number(row.latency_ms) < TIMEOUT_MS, 'from command to fact');
  t.same(await db.selectFrom('messages').selectAll().execute(), []);
  t.match(await db.selectFrom('nodes').selectAll().execute(), [{ unheld_messages: 0 }]);
  const audited = { actor: 'command line', action: 'sendTest', subject: maskedNumber(from), result: 'ok' };
  t.match((await operator.call('auditLog', { limit: 1 })).rows, [
    { ...audited, detail: { to: maskedNumber(slotOf(1).number) } },
  ]);
  t.match(await operator.call('probeSummary', { by: 'slot', span: 'hour' }), [
    { role: 'sender', delivered: 1, failed: 0 },
    { role: 'recipient', delivered: 1, failed: 0 },
  ]);
  t.match(await operator.call('probeSummary', { by: 'carrier', span: 'day' }), [
    { delivered: 1, p50_ms: Number },
  ]);
  await t.rejects(operator.call('sendTest', { from, to: from }), /cannot text itself/);
  await t.rejects(operator.call('sendTest', { from, to: '+12065559999' }), /not a number of this service/);
});

t.test(
  'a modem that is deaf leaves the pool after two partners, and comes back',
  { timeout: 240_000 },
  async (t) => {
    const stack = await modemStack(t, rig, { modems: 4, service });
    const { operator, db, simulator, available, slotOf } = stack;
    const { probe } = between(stack);
    const deaf = simulator.modems[1];
    deaf?.play(parseFault({ kind: 'store_full' }));
    t.match(await probe(0, 1), { result: 'failed', failed_end: 'either', why: /did not arrive/ });
    t.match(await probe(0, 1), { result: 'failed' });
    t.same(await outOfService(stack), [], 'with one partner it may be the partner');
    t.match(await probe(2, 1), { result: 'failed' });
    await until('it leaves', async () => (await outOfService(stack)).length > 0);
    t.same(await outOfService(stack), ['probe: probe: 2 failures: texts to it do not arrive']);
    t.equal(await available(), 3, 'its number is not sold');
    const place = { subject: `lab/${slotOf(1).slot}`, actor: 'probe', result: 'ok' };
    t.match((await operator.call('auditLog', { limit: 1 })).rows, [
      { ...place, action: 'takeSlotOutOfService' },
    ]);
    deaf?.faults.clear();
    t.match(await probe(3, 1), { result: 'delivered' });
    t.equal(await available(), 3, 'one is not enough');
    t.match(await probe(2, 1), { result: 'delivered' });
    await until('it is back', async () => (await available()) === 4);
    t.match((await operator.call('auditLog', { limit: 1 })).rows, [{ ...place, action: 'putSlotInService' }]);
    t.same(await db.selectFrom('messages').selectAll().execute(), [], 'late ones are no messages either');
  },
);

t.test(
  'a text that the carrier refuses counts against the sender; half of a carrier stays',
  { timeout: 180_000 },
  async (t) => {
    const stack = await modemStack(t, rig, { modems: 3, service });
    const { probe } = between(stack);
    const refuse = (index: number): void =>
      stack.simulator.modems[index]?.play(parseFault({ kind: 'cms_error', code: 38, count: 1_000 }));
    refuse(0);
    t.match(await probe(0, 1), { result: 'failed', failed_end: 'sender', why: /cms_38/ });
    t.match(await probe(0, 2), { result: 'failed', failed_end: 'sender' });
    await until('it leaves', async () => (await outOfService(stack)).length === 1);
    refuse(1);
    t.match(await probe(1, 0), { failed_end: 'sender' });
    t.match(await probe(1, 2), { failed_end: 'sender' });
    t.match(await probe(2, 1), { result: 'delivered' }, 'the judge had its time');
    t.equal((await outOfService(stack)).length, 1, 'two of three must not leave');
    t.equal(await stack.available(), 2);
  },
);

t.test(
  'sold while it is on its way: it arrives, and the holder gets nothing of it',
  { timeout: 180_000 },
  async (t) => {
    const stack = await modemStack(t, rig, { modems: 2, service: { probeTimeoutMs: 30_000 } });
    const { url, databaseUrl, simulator, slotOf } = stack;
    const { begin, end } = between(stack);
    const recipient = simulator.modems[1];
    recipient?.play(parseFault({ kind: 'store_full' }));
    const id = await begin(0, 1);
    const { headers } = await subscribeInStore(databaseUrl, ALICE, slotOf(1).number);
    recipient?.faults.clear();
    t.match(await end(id), { result: 'delivered' });
    const get = async (path: string) => (await fetch(url + path, { headers })).json();
    t.same(await get('/sms/receive'), { messages: [], count: 0 });
    t.match(await get('/sms/messages'), { messages: [] });
    await t.rejects(begin(0, 1), /is held by a wallet/, 'and no test is made with it');
  },
);
