// Each trouble provoked on a running service: the service reports it once, and reports its end once.
import t, { type Test } from 'tap';
import { parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { revokeNode } from '#control-plane/store/fleet/nodes.ts';
import { putSlotInService, takeSlotOutOfService } from '#control-plane/store/fleet/slot-service.ts';
import { NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { startRpcProxy } from '../../fixtures/chain/rpc-proxy.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { putNode } from '../../fixtures/service/alerting-service.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';
import { startSwiftAlerting } from './swift-alerting.ts';

const TIMEOUT = { timeout: 300_000 };
const MINUTE_MS = 60_000;

const rig = await createRig();

t.test('a node that goes, with all of its slots, and comes back', TIMEOUT, async (t) => {
  const { url, databaseUrl, clock, hook, pass } = await startSwiftAlerting(t, rig);
  const slots = Array.from({ length: 64 }, (_, index) => slotAt(index + 1));
  const node = await rig.connect(t, url, { nodeId: 'rack-1', slots });
  await rig.connect(t, url, { nodeId: 'rack-2', slots: [slotAt(100)] });
  await pass(MINUTE_MS);
  t.same(hook.reported(), []);
  await node.drop();
  await pass(5 * MINUTE_MS);
  t.same(hook.reported(), ['+node_offline rack-1']);
  t.match(hook.taken[0], {
    id: /^msg_[0-9a-f]{24}$/,
    body: {
      type: 'alerts.changed',
      data: {
        version: 1,
        service: 'Simrack',
        environment: 'test',
        recovered: [],
        raised: [{ id: /^alert_/, severity: 'critical', summary: /rack-1 is offline/, recovered_at: null }],
      },
    },
  });
  const list = (...args: string[]) => runCommand(['alert', 'list', ...args], { DATABASE_URL: databaseUrl });
  t.match(await list(), { status: 0, stdout: /^20.* - +critical +node_offline +node rack-1 is offline/m });
  // The node's proof contains the time.
  clock.set(Date.now());
  await rig.connect(t, url, { nodeId: 'rack-1', slots });
  await pass(10 * MINUTE_MS);
  t.same(hook.reported(), ['+node_offline rack-1', '-node_offline rack-1']);
  t.same(JSON.parse((await list('--json')).stdout), { alerts: [], next: null });
  const { alerts } = JSON.parse((await list('--json', '--all')).stdout);
  t.match(alerts, [{ kind: 'node_offline', subject: 'rack-1', recovered_at: /^20/ }]);
});

t.test('a node that reports SIMs of another one, until its operator has checked', TIMEOUT, async (t) => {
  const { url, db, hook, pass } = await startSwiftAlerting(t, rig);
  const slots = Array.from({ length: 5 }, (_, index) => slotAt(index + 1));
  await rig.connect(t, url, { nodeId: 'rack-1', slots });
  const rogue = await rig.connect(t, url, { nodeId: 'rogue', slots: slots.slice(0, 1) });
  const claims = () => db.selectFrom('sim_claims').selectAll().execute();
  await until('its claim', async () => (await claims()).length === 1);
  await pass(30_000);
  rogue.send({ type: 'slots', slots: [], alarms: [] });
  await until('it has none', async () => {
    const slots = await db.selectFrom('slots').select('slot').where('node_id', '=', 'rogue').execute();
    return slots.length === 0;
  });
  await db.deleteFrom('sim_claims').execute();
  await db.deleteFrom('node_refusals').execute();
  await pass(2 * MINUTE_MS);
  t.same(hook.reported(), [], 'a card that is on its way is no trouble');
  rogue.send({ type: 'slots', slots, alarms: [] });
  await until('its claims', async () => (await claims()).length === 5);
  await pass(2 * MINUTE_MS);
  t.same(hook.reported(), ['+node_claims rogue']);
  const summary = 'node rogue reports 5 SIMs of other nodes: the service gives it no new SIMs';
  t.match(hook.taken[0], { body: { data: { raised: [{ severity: 'critical', summary }] } } });
  const reported = { count: 7, last_at: new Date(), node_id: 'rack-1', reason: 'frames' } as const;
  await db.insertInto('node_refusals').values(reported).execute();
  await pass(2 * MINUTE_MS);
  t.match(hook.taken[1], {
    body: {
      data: { raised: [{ summary: 'node rack-1 reports more than a rack has to report, and is read late' }] },
    },
  });
  await db.deleteFrom('node_refusals').where('node_id', '=', 'rack-1').execute();
  await pass(MINUTE_MS);
  hook.taken.length = 0;
  await revokeNode(db, 'rogue', new Date());
  await pass(MINUTE_MS);
  t.same(hook.reported(), ['-node_claims rogue']);
});

t.test(
  'numbers that SIMs of two nodes report, until the operator has imported the right ones',
  TIMEOUT,
  async (t) => {
    const { url, databaseUrl, db, hook, pass } = await startSwiftAlerting(t, rig);
    await rig.connect(t, url, { nodeId: 'rack-1', slots: [slotAt(1), slotAt(9)] });
    const { number } = slotAt(1);
    await rig.connect(t, url, { nodeId: 'rogue', slots: [slotAt(1001, { slot: 'r1', number })] });
    await until('both are noted', async () => {
      const rows = await db.selectFrom('number_rivals').selectAll().execute();
      return rows.length === 1;
    });
    await pass(2 * MINUTE_MS);
    t.same(hook.reported().sort(), ['+node_claims rack-1', '+node_claims rogue']);
    const summary = 'node rogue reports 1 number that SIMs of other nodes also report (not sold)';
    t.match(JSON.stringify(hook.taken), summary);
    const operator = await openTestOperator(t, { databaseUrl, url });
    const rows = [{ line: 1, number: String(number), iccid: String(slotAt(1).iccid) }];
    await operator.call('importNumbers', { rows });
    await pass(MINUTE_MS);
    t.same(hook.reported().slice(2).sort(), ['-node_claims rack-1', '-node_claims rogue']);
  },
);

t.test('slots that go down together are one message; one that only stumbles is none', TIMEOUT, async (t) => {
  const { url, hook, db, pass } = await startSwiftAlerting(t, rig);
  const slots = [1, 2, 3, 4].map((index) => slotAt(index));
  const node = await rig.connect(t, url, { nodeId: 'rack-1', slots });
  const report = (...down: number[]) =>
    node.send({
      type: 'slots',
      slots: slots.map((slot, index) =>
        down.includes(index + 1) ? { ...slot, state: 'lost' as const, reason: 'mass_storage' } : slot,
      ),
      alarms: [],
    });
  report(1);
  await pass(40_000);
  report();
  await pass(40_000);
  t.same(hook.reported(), []);
  report(2, 3, 4);
  await pass(3 * MINUTE_MS);
  t.same(
    hook.reported(),
    [2, 3, 4].map((index) => `+slot_down rack-1/m${index}`),
  );
  t.equal(hook.taken.length, 1);
  t.match(hook.taken[0]?.body.data.raised[0], {
    summary: /lost \(the stick shows its driver disk\); carrier: 00101$/,
  });
  report(4);
  await pass(3 * MINUTE_MS);
  t.same(hook.reported().slice(3), ['-slot_down rack-1/m2', '-slot_down rack-1/m3']);
  const place = { node: 'rack-1', slot: 'm1' };
  const now = new Date(0);
  await takeSlotOutOfService(db, { ...place, reason: 'a new antenna', by: 'operator', now });
  report(1, 4);
  await pass(10 * MINUTE_MS);
  t.equal(hook.reported().length, 5, 'no alert: an operator took this slot out of service');
  await putSlotInService(db, { ...place, now });
  await pass(3 * MINUTE_MS);
  t.same(hook.reported().slice(5), ['+slot_down rack-1/m1']);
});

t.test('a storage that fills, and a journal that grows', TIMEOUT, async (t) => {
  const { url, hook, db, pass } = await startSwiftAlerting(t, rig);
  const node = await rig.connect(t, url, { nodeId: 'rack-1' });
  const report = async (used: number, journalDepth: number) => {
    const slots = [slotAt(1, { storage: { used, total: 20 } })];
    node.send({ type: 'slots', slots, alarms: [], journal_depth: journalDepth });
    await until('it is stored', async () => {
      const reported = await db
        .selectFrom('sims')
        .innerJoin('nodes', 'nodes.id', 'sims.node_id')
        .select(['storage_used', 'journal_depth'])
        .executeTakeFirst();
      return reported?.storage_used === used && reported.journal_depth === journalDepth;
    });
    await pass(MINUTE_MS);
  };
  await report(15, 499);
  t.same(hook.reported(), []);
  await report(16, 499);
  await report(16, 499);
  await report(15, 499);
  t.same(hook.reported(), ['+storage_full rack-1/m1']);
  t.match(hook.taken[0]?.body.data.raised[0], { summary: /16 of 20 places/ });
  await report(13, 600);
  t.same(hook.reported().slice(1), [], 'it may fill again');
  for (let minute = 1; minute <= 12; minute += 1) await report(0, 600 + minute);
  t.same(hook.reported().slice(1), ['-storage_full rack-1/m1', '+journal_growing rack-1']);
  await report(0, 0);
  t.same(hook.reported().slice(3), ['-journal_growing rack-1']);
});

/** A node that reports alarms of the whole node. */
async function alarmedNode(t: Test) {
  const { url, hook, pass } = await startSwiftAlerting(t, rig);
  const node = await rig.connect(t, url, { nodeId: 'rack-1' });
  const report = async (...alarms: string[]) => {
    node.send({ type: 'slots', slots: [slotAt(1)], alarms });
    await pass(3 * MINUTE_MS);
  };
  return { hook, node, pass, report };
}

t.test('alarms of a whole node', TIMEOUT, async (t) => {
  const { hook, node, pass, report } = await alarmedNode(t);
  await report('journal_unavailable', 'an alarm of a newer node');
  t.same(hook.reported(), ['+node_alarm rack-1/journal_unavailable']);
  t.match(hook.taken[0]?.body.data.raised[0], { severity: 'critical', summary: /refuses journal writes/ });
  await report('modem_given_up', 'disk_nearly_full');
  t.same(hook.reported().slice(1).sort(), [
    '+node_alarm rack-1/disk_nearly_full',
    '+node_alarm rack-1/modem_given_up',
    '-node_alarm rack-1/journal_unavailable',
  ]);
  const warned = hook.taken
    .flatMap(({ body }) => body.data.raised)
    .find(({ subject }) => /disk/.test(subject));
  t.match(warned, { severity: 'warning', summary: 'node rack-1: the disk of its journal is nearly full' });
  await node.drop();
  await pass(3 * MINUTE_MS);
  t.same(hook.reported().slice(4), ['+node_offline rack-1'], 'the alarm of a silent node stays');
});

t.test('each alarm of a node has its own alert, with the advice for it', TIMEOUT, async (t) => {
  const { hook, report } = await alarmedNode(t);
  await report(...Object.keys(NODE_ALARMS));
  const raised = new Map(
    hook.taken.flatMap(({ body }) => body.data.raised).map((alert) => [alert.subject, alert]),
  );
  for (const [alarm, { means, advice }] of Object.entries(NODE_ALARMS)) {
    t.match(raised.get(`rack-1/${alarm}`), { summary: `node rack-1: ${means}`, advice }, alarm);
  }
  await report();
  const ended = hook.reported().filter((report) => report.startsWith('-node_alarm'));
  t.equal(ended.length, Object.keys(NODE_ALARMS).length);
});

t.test('a storage that fills because the journal fails says so', TIMEOUT, async (t) => {
  const { hook, node, pass } = await alarmedNode(t);
  const slots = [slotAt(1, { storage: { used: 20, total: 20 } })];
  node.send({ type: 'slots', slots, alarms: ['journal_unavailable'] });
  await pass(3 * MINUTE_MS);
  const raised = hook.taken.flatMap(({ body }) => body.data.raised);
  t.match(
    raised.find(({ kind }) => kind === 'storage_full'),
    { advice: /Free disk space/ },
  );
});

t.test('the pool runs low and fills again', TIMEOUT, async (t) => {
  const { url, databaseUrl, hook, pass } = await startSwiftAlerting(t, rig, { alertPoolMin: 2 });
  const slots = [slotAt(1), slotAt(2)];
  await rig.connect(t, url, { nodeId: 'rack-1', slots });
  await until('both are on sale', async () => (await availableAt(url)) === 2);
  await pass(2 * MINUTE_MS);
  const control = (...args: string[]) => runCommand(['number', ...args], { DATABASE_URL: databaseUrl });
  await control('out-of-service', String(slots[0]?.number), '--reason', 'a test');
  await pass(5 * MINUTE_MS);
  t.same(hook.reported(), ['+pool_low pool']);
  t.match(hook.taken[0]?.body.data.raised[0], { summary: '1 number is available', severity: 'warning' });
  await control('in-service', String(slots[0]?.number));
  await pass(10 * MINUTE_MS);
  t.same(hook.reported(), ['+pool_low pool', '-pool_low pool']);
  t.notMatch(JSON.stringify(hook.taken), /\+1206/, 'no number is in any of it');
});

t.test('a pool that runs low and then empty is reported once more, however it swings', TIMEOUT, async (t) => {
  const { db, databaseUrl, url, hook, pass } = await startSwiftAlerting(t, rig, { alertPoolMin: 3 });
  const slots = [slotAt(1), slotAt(2)];
  await rig.connect(t, url, { nodeId: 'rack-1', slots });
  await until('both are on sale', async () => (await availableAt(url)) === 2);
  await pass(2 * MINUTE_MS);
  const list = async (): Promise<string> =>
    (await runCommand(['alert', 'list'], { DATABASE_URL: databaseUrl })).stdout;
  const since = /20\d\d\S+ \S+/.exec(await list())?.[0];
  const sell = async (isSold: boolean): Promise<void> => {
    const change = {
      out_of_service_at: isSold ? null : new Date(),
      out_of_service_reason: isSold ? null : 'x',
    };
    await db.updateTable('numbers').set(change).execute();
    await pass(2 * MINUTE_MS);
  };
  for (const isSold of [false, true, false, true, false]) await sell(isSold);
  t.same(hook.reported(), ['+pool_low pool', '!pool_low pool']);
  t.match(hook.taken[0]?.body.data, {
    raised: [{ severity: 'warning', summary: '2 numbers are available' }],
    escalated: [],
  });
  const { raised, escalated, recovered } = hook.taken[1]?.body.data ?? {};
  t.match({ raised, recovered }, { raised: [], recovered: [] });
  const [first] = hook.taken[0]?.body.data.raised ?? [];
  t.match(escalated, [
    {
      id: first?.id,
      severity: 'critical',
      summary: '0 numbers are available',
      raised_at: first?.raised_at,
    },
  ]);
  const shown = await list();
  t.match(shown, /critical +pool_low +0 numbers are available {2}/m);
  t.ok(shown.includes(`${since}`), 'since it began');
  await sell(true);
  t.match(await list(), /warning +pool_low +2 numbers are available {2}/m);
});

t.test('a node that waits for approval, or was revoked, is not offline', TIMEOUT, async (t) => {
  const { db, url, hook, pass } = await startSwiftAlerting(t, rig);
  const now = new Date();
  await putNode(db, 'new', false);
  await putNode(db, 'gone', false);
  const node = await rig.connect(t, url, { nodeId: 'rack-1' });
  await until(
    'its SIM is there',
    async () => (await db.selectFrom('sims').select('iccid').execute()).length > 0,
  );
  await node.drop();
  const waits = { approval_pending_since: now };
  await db.updateTable('nodes').set(waits).where('id', 'in', ['new', 'rack-1']).execute();
  await db.updateTable('nodes').set({ revoked_at: now }).where('id', '=', 'gone').execute();
  await pass(5 * MINUTE_MS);
  t.same(
    hook.reported().sort(),
    ['+node_pending new', '+node_pending rack-1'],
    'also one that was in service before its new key',
  );
  const raised = new Map(
    hook.taken.flatMap(({ body }) => body.data.raised).map((alert) => [alert.subject, alert]),
  );
  t.match(raised.get('new'), { severity: 'warning', summary: /waits for your approval$/ });
  t.match(raised.get('rack-1'), {
    severity: 'critical',
    summary: 'node rack-1 waits for your approval: its SIM cannot send or receive',
    advice: /node approve rack-1/,
  });
  await revokeNode(db, 'rack-1', now);
  await db.updateTable('nodes').set({ approval_pending_since: null }).where('id', '=', 'new').execute();
  await pass(5 * MINUTE_MS);
  t.same(hook.reported().slice(2).sort(), ['+node_offline new', '-node_pending new', '-node_pending rack-1']);
});

t.test('a relayer that runs dry', TIMEOUT, async (t) => {
  const relayerKey = generatePrivateKey();
  const { address } = privateKeyToAccount(relayerKey);
  const give = (value: bigint) => rig.chain.control.setBalance({ address, value });
  await give(parseEther('1'));
  const { hook, pass } = await startSwiftAlerting(t, rig, { relayerKey });
  await pass(2 * MINUTE_MS);
  t.same(hook.reported(), []);
  await give(1n);
  await pass(4 * MINUTE_MS);
  t.same(hook.reported(), ['+relayer_low 84532']);
  t.match(hook.taken[0]?.body.data.raised[0], { severity: 'critical', summary: /gas for 0 transfers/ });
  await give(parseEther('1'));
  await pass(4 * MINUTE_MS);
  t.same(hook.reported(), ['+relayer_low 84532', '-relayer_low 84532']);
  t.notMatch(JSON.stringify(hook.taken), new RegExp(address, 'i'));
});

t.test('a payment that comes to no end while the chain is away', TIMEOUT, async (t) => {
  const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
  const { url, hook, pass } = await startSwiftAlerting(t, rig, {
    rpcUrl: rpc.url,
    rpcTimeoutMs: 1_000,
    settlementWaitMs: 500,
  });
  await rig.connect(t, url, { nodeId: 'rack-1' });
  const header = await signPaymentHeader(url, ALICE.privateKey);
  let isAway = false;
  rpc.interfere = async (method, forward) => {
    if (method === 'eth_sendRawTransaction') isAway = true;
    if (isAway) throw new Error('no answer');
    return forward();
  };
  const answer = await fetch(`${url}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
  t.equal(answer.status, 503);
  // The chain itself may be reported, too, where checking it took long enough.
  const stuck = () => hook.reported().filter((each) => each.includes('payment_stuck'));
  await pass(9 * MINUTE_MS);
  t.same(stuck(), []);
  await pass(3 * MINUTE_MS);
  const [reported] = stuck();
  t.match(reported, /^\+payment_stuck pay_[0-9a-f]{24}$/);
  const raised = hook.taken
    .flatMap(({ body }) => body.data.raised)
    .find(({ kind }) => kind === 'payment_stuck');
  t.match(raised, { severity: 'critical', summary: /in_flight/ });
  t.notMatch(JSON.stringify(hook.taken), new RegExp(ALICE.address, 'i'));
  isAway = false;
  rpc.interfere = undefined;
  await until('it is over', async () => {
    await pass(MINUTE_MS);
    return stuck().length > 1;
  });
  t.same(stuck(), [reported, String(reported).replace('+', '-')]);
});
