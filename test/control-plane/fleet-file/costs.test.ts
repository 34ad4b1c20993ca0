// Costs and earnings of SIMs, and the alerts about plans that run out.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { storeMonth } from '#control-plane/store/cards/sim-costs.ts';
import type { Database } from '#control-plane/store/database/database.ts';
import { purgeLapsed } from '#control-plane/store/money/purge.ts';
import { ALICE, BOB } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { validIccid } from '../../fixtures/nodes/valid-iccid.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { startAlerting } from '../../fixtures/service/alerting-service.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const TIMEOUT = { timeout: 300_000 };
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const rig = await createRig();
/** USDC on Base. */
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const [SIM_1, SIM_2, SIM_3] = [validIccid(1), validIccid(2), validIccid(3)] as const;

const NOW = new Date();
const MONTH = NOW.toISOString().slice(0, 7);
const FIRST = new Date(`${MONTH}-01T00:00:00Z`);
const dayOf = (days: number): string => new Date(NOW.getTime() + days * DAY_MS).toISOString().slice(0, 10);

async function operated(t: Test) {
  const dataDir = temporaryFolder(t);
  const alerting = await startAlerting(t, rig, { dataDir });
  const { databaseUrl, url } = alerting;
  const slots = [slotAt(1, { iccid: SIM_1 }), slotAt(2, { iccid: SIM_2, operator: '310260' })];
  await rig.connect(t, url, { nodeId: 'lab', slots });
  const account = await subscribeInStore(databaseUrl, ALICE, '+12065550001');
  const operator = await openTestOperator(t, { databaseUrl, dataDir, url });
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  const report = (...args: string[]) => runCommand(['report', 'costs', ...args], env);
  return { ...alerting, account, operator, report };
}

/** A payment that was applied. `years`: from the start of the present month. */
async function putPayment(
  db: Database,
  subscription: string,
  {
    id,
    value,
    asset = USDC,
    refund = null,
  }: { id: string; value: string; asset?: string; refund?: string | null },
): Promise<void> {
  const until = new Date(FIRST.getTime() + 365 * DAY_MS);
  await sql`
    insert into payments (id, chain_id, asset, payer, nonce, pay_to, value, valid_after, valid_before, signature, state,
      subscription_id, paid_from, paid_until, refund_value, created_at, updated_at)
    values (${id}, 8453, ${asset}, '0x01', ${id}, '0x02', ${value}, '0', '1', '0x', 'applied', ${subscription},
      ${FIRST}::timestamptz, ${until}::timestamptz, ${refund}, ${FIRST}::timestamptz, ${FIRST}::timestamptz)`.execute(
    db,
  );
}

/** Share of a year that began with the month. */
const shareOf = (dollars: number): string => {
  const next = new Date(FIRST);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return ((dollars * (next.getTime() - FIRST.getTime())) / DAY_MS / 365).toFixed(2);
};

t.test('by SIM, node and carrier, as table, JSON and CSV', TIMEOUT, async (t) => {
  const { account, db, operator, report } = await operated(t);
  await operator.call('applyFleet', {
    cards: [
      { line: 1, iccid: SIM_1, label: 'a', carrier: 'US Mobile', plan: 'Unlimited', monthly_cost: '4.50' },
      { line: 2, iccid: SIM_3, label: 'drawer', carrier: 'US Mobile', monthly_cost: '0.10' },
    ],
  });
  await putPayment(db, account.subscriptionId, { id: 'pay_1', value: '1800000000' });
  await putPayment(db, account.subscriptionId, { id: 'pay_2', value: '365000000', refund: '265000000' });
  const earned = shareOf(1_900);
  const csv = await report('--month', MONTH, '--csv');
  t.match(csv, { status: 0, stderr: '' });
  const result = (Number(earned) - 4.5).toFixed(2);
  t.equal(
    csv.stdout,
    [
      'ICCID,Number,Label,Node,SIM carrier,Plan,Cost,Earned,Result',
      `${SIM_1},+1206…0001,a,lab,US Mobile,Unlimited,4.50,${earned},${result}`,
      `${SIM_2},+12065550002,,lab,T-Mobile (310260),,,0.00,`,
      `${SIM_3},,drawer,,US Mobile,,0.10,0.00,-0.10`,
      '',
    ].join('\r\n'),
  );
  t.match((await report('--full')).stdout, /\+12065550001 /);
  await storeMonth(db, NOW);
  await sql`update subscriptions set expires_at = now() - interval '1 hour'`.execute(db);
  await sql`delete from sims`.execute(db);
  await sql`update sim_tenures set until = now()`.execute(db);
  t.equal(
    (await report('--month', MONTH, '--csv')).stdout,
    csv.stdout,
    'in the grace time, without the cards',
  );
  t.match(JSON.parse((await report('--by', 'carrier', '--json')).stdout), {
    costs: [
      { name: '310260', sims: 1, sold: 0, unpriced: 1, cost: null },
      { name: 'US Mobile', sims: 2, sold: 1, unpriced: 0, cost: '4.60', earned: [{ chain_id: 8453 }] },
    ],
  });
  t.match((await report('--by', 'node')).stdout, new RegExp(`^lab +2 +1 +1 +4\\.50 +${earned} +-$`, 'm'));
  t.match(JSON.parse((await report('--find', 'drawer', '--json')).stdout), { costs: [{ iccid: SIM_3 }] });
  await putPayment(db, account.subscriptionId, {
    id: 'pay_3',
    value: '12345',
    asset: `0x${'ab'.repeat(20)}`,
  });
  t.match((await report('--csv')).stdout, / USDC \+ \d+ of 0x[aA]/, 'another token is not taken for dollars');
});

t.test('a month that is over stays as it was', TIMEOUT, async (t) => {
  const { account, db, operator, report } = await operated(t);
  await operator.call('applyFleet', {
    cards: [{ line: 1, iccid: SIM_1, label: 'before', monthly_cost: '4.50' }],
  });
  await putPayment(db, account.subscriptionId, { id: 'pay_1', value: '1800000000' });
  await storeMonth(db, NOW);
  await storeMonth(db, NOW);
  await sql`update sim_months set month = '2025-02-01'`.execute(db);
  await operator.call('applyFleet', {
    cards: [{ line: 1, iccid: SIM_1, label: 'after', monthly_cost: '9' }],
  });
  await sql`delete from tokens`.execute(db);
  await sql`delete from subscriptions`.execute(db);
  const past = await report('--month', '2025-02', '--csv');
  t.match(
    past.stdout,
    `${SIM_1},+1206…0001,before,lab,Test network (00101),,4.50,${shareOf(1_800)},`.slice(0, 40),
  );
  t.match(past.stdout, `,4.50,${shareOf(1_800)},`);
  t.match((await report('--csv')).stdout, ',after,');
  t.match(await report('--month', '2025-01'), { status: 0, stdout: 'No SIMs in that month.\n' });
  t.match(await report('--month', '2098-01'), { status: 2, stderr: /2098-01 has not begun/ });
  t.match(await report('--month', '2026-13'), { status: 1, stderr: /must be a month, such as 2026-11/ });
});

t.test(
  'the earnings of former subscribers stay in the month, and move with the number',
  TIMEOUT,
  async (t) => {
    const { account, databaseUrl, db, operator, report } = await operated(t);
    await putPayment(db, account.subscriptionId, { id: 'pay_1', value: '1800000000' });
    await storeMonth(db, NOW);
    // The end of the subscription, as housekeeping sees it: its grace period is over.
    const ended = new Date(NOW.getTime() - MINUTE_MS);
    await sql`update subscriptions set expires_at = ${ended}, lapsed_at = now() - interval '2 hours'`.execute(
      db,
    );
    t.same(await purgeLapsed(db, { graceMs: 0, now: new Date() }), [account.subscriptionId]);
    const csvOf = async (...args: string[]) => (await report('--csv', ...args)).stdout;
    t.match(await csvOf(), `,${shareOf(1_800)},`, 'in the present month, too');
    await storeMonth(db, NOW);
    const second = await subscribeInStore(databaseUrl, BOB, '+12065550001');
    await putPayment(db, second.subscriptionId, { id: 'pay_2', value: '3650000000' });
    await storeMonth(db, NOW);
    const earned = shareOf(1_800 + 3_650);
    t.match(await csvOf(), new RegExp(`^${SIM_1},.*,${earned},`, 'm'), 'both');

    await operator.call('moveNumber', {
      number: '+12065550001',
      card: { iccid: SIM_3 },
      reason: 'replaced',
    });
    await storeMonth(db, NOW);
    await storeMonth(db, NOW);
    await sql`update sim_months set month = '2025-02-01'`.execute(db);
    const past = await csvOf('--month', '2025-02');
    t.match(past, new RegExp(`^${SIM_3},\\+1206…0001,.*,${earned},`, 'm'));
    t.notMatch(past, new RegExp(`^${SIM_1},`, 'm'), 'once');
  },
);

t.test(
  'a replacement card takes over label, plan and cost: the dead card costs nothing, and its plan is no alert',
  TIMEOUT,
  async (t) => {
    const { databaseUrl, db, hook, operator, pass, report } = await operated(t);
    const card = { label: 'shelf 3', plan: 'Unlimited', monthly_cost: '4.50' };
    await operator.call('applyFleet', {
      cards: [
        { line: 1, iccid: SIM_1, ...card, plan_expires: dayOf(2) },
        { line: 2, iccid: SIM_2, ...card },
        { line: 3, iccid: validIccid(4), label: 'own', monthly_cost: '9' },
      ],
    });
    await storeMonth(db, NOW);
    await pass(MINUTE_MS);
    const move = ['number', 'move', '+12065550001', '--to', SIM_3, '--reason', 'it died'];
    t.match(await runCommand(move, { DATABASE_URL: databaseUrl }), {
      status: 2,
      stderr:
        /has no number then\nThe new card takes over the label, plan, end of the plan, monthly cost; the present one/,
    });
    const moved = { number: '+12065550001', reason: 'it died' };
    await operator.call('moveNumber', { ...moved, card: { iccid: SIM_3 } });
    const other = { number: '+12065550002', reason: 'it died', card: { iccid: validIccid(4) } };
    t.match(await operator.call('moveNumber', other), { taken: ['plan'] });
    const costs = async (...args: string[]) => (await report('--csv', ...args)).stdout;
    t.match(await costs(), new RegExp(`^${SIM_3},\\+1206…0001,shelf 3,.*,Unlimited,4.50,`, 'm'));
    t.match(await costs(), new RegExp(`^${validIccid(4)},\\+12065550002,own,.*,Unlimited,9.00,`, 'm'));
    t.notMatch(await costs(), SIM_1);
    await storeMonth(db, NOW);
    await sql`update sim_months set month = '2025-02-01'`.execute(db);
    const past = await costs('--month', '2025-02');
    t.match(past, new RegExp(`^${SIM_3},.*,4.50,`, 'm'));
    t.notMatch(past, new RegExp(`^${SIM_1},`, 'm'), 'the month is paid once');
    await pass(MINUTE_MS);
    t.same(hook.reported(), [
      `+plan_ending ${SIM_1}`,
      ...[`+plan_ending ${SIM_3}`, `-plan_ending ${SIM_1}`].sort(),
    ]);
  },
);

t.test('a number that moved earns once, also if no fleet file named its former card', TIMEOUT, async (t) => {
  const { account, db, operator, report } = await operated(t);
  await putPayment(db, account.subscriptionId, { id: 'pay_moved', value: '73000000' });
  await storeMonth(db, NOW);
  t.match((await report('--csv')).stdout, new RegExp(`^${SIM_1},.*${shareOf(73)}`, 'm'));
  await operator.call('moveNumber', { number: '+12065550001', reason: 'it died', card: { iccid: SIM_3 } });
  for (const saved of [false, true]) {
    if (saved) await storeMonth(db, NOW);
    const { stdout } = await report('--csv');
    t.match(stdout, new RegExp(`^${SIM_3},.*${shareOf(73)}`, 'm'));
    t.notMatch(stdout, new RegExp(`^${SIM_1},`, 'm'), 'the former card cost nothing and has no number');
  }
});

t.test('a card that was dropped costs nothing from the next month on', TIMEOUT, async (t) => {
  const { databaseUrl, db, operator, report } = await operated(t);
  const drop = (card: string) => runCommand(['fleet', 'drop', card], { DATABASE_URL: databaseUrl });
  await operator.call('applyFleet', {
    cards: [
      { line: 1, iccid: SIM_2, label: 'sold back', monthly_cost: '4.50', pin: '0042' },
      { line: 2, iccid: SIM_3, label: 'drawer', monthly_cost: '0.10' },
    ],
  });
  await storeMonth(db, NOW);
  t.match(await drop(SIM_2), { status: 2, stderr: /has the number \+12065550002. Retire that number first/ });
  t.match(await drop(validIccid(9)), { status: 2, stderr: /No fleet file has named the SIM/ });
  t.match(await drop('lab/none'), { status: 2 });
  await operator.call('retire', { number: '+12065550002' });
  t.match(await drop('lab/m2'), { status: 0, stdout: new RegExp(`^${SIM_2} is dropped`) });
  t.match(await drop(SIM_3), { status: 0 });
  t.same(await db.selectFrom('cards').selectAll().execute(), []);
  const present = (await report('--csv')).stdout;
  t.match(present, `${SIM_2},+12065550002,sold back,lab,`, 'its last month');
  t.match(present, `${SIM_3},,drawer,,,,0.10,`);
  await storeMonth(db, NOW);
  await sql`update sim_months set month = '2025-02-01'`.execute(db);
  t.notMatch((await report('--csv')).stdout, /sold back|drawer/);
  t.match((await report('--month', '2025-02', '--csv')).stdout, ',sold back,');
});

t.test('a refund that is given up takes nothing from the earnings', TIMEOUT, async (t) => {
  const { account, db, operator, report } = await operated(t);
  const { subscriptionId: id } = account;
  const paid = `pay_${'0'.repeat(24)}`;
  await putPayment(db, id, { id: paid, value: '1800000000' });
  await sql`update payments set final_at = paid_from`.execute(db);
  const { expires_at, payments } = await operator.call('planRefund', { id });
  const shares = payments.map(({ id: payment, value }) => ({ id: payment, value }));
  const reason = 'the SIM died';
  await operator.call('endSubscription', { id, expires_at, reason, refund: { expires_at, shares } });
  const earned = async () => (await report('--csv')).stdout.split('\r\n')[1]?.split(',')[7];
  const kept = (1_800_000_000 - Number(shares[0]?.value)) / 1_000_000;
  t.equal(await earned(), kept.toFixed(2), 'the rest is not refunded');
  await operator.call('closePayment', { id: paid, hash: null, reason, proof: 'the token blocks the payer' });
  t.equal(await earned(), '1800.00', 'the year up to its end kept the whole price');
});

t.test('a subscriber who gets another number takes the earnings along', TIMEOUT, async (t) => {
  const { account, db, report } = await operated(t);
  await putPayment(db, account.subscriptionId, { id: 'pay_1', value: '1800000000' });
  await storeMonth(db, NOW);
  await sql`update subscriptions set number = '+12065550002'`.execute(db);
  await storeMonth(db, NOW);
  await sql`update sim_months set month = '2025-02-01'`.execute(db);
  const { stdout } = await report('--month', '2025-02', '--csv');
  t.match(stdout, new RegExp(`^${SIM_1},.*,0\\.00,`, 'm'));
  t.match(stdout, new RegExp(`^${SIM_2},.*,${shareOf(1_800)},`, 'm'));
});

t.test(
  'plans that run out: some days before, and critical once a customer has the number',
  TIMEOUT,
  async (t) => {
    const { hook, operator, pass } = await operated(t);
    const apply = (cards: Array<[iccid: string, planExpires: string]>) =>
      operator.call('applyFleet', {
        cards: cards.map(([iccid, planExpires], line) => ({
          line: line + 1,
          iccid,
          plan_expires: planExpires,
        })),
      });
    await apply([
      [SIM_1, dayOf(2)],
      [SIM_2, dayOf(2)],
      [SIM_3, dayOf(30)],
    ]);
    await pass(MINUTE_MS);
    t.same(hook.reported(), [`+plan_ending ${SIM_1}`, `+plan_ending ${SIM_2}`]);
    await pass(MINUTE_MS);
    t.equal(hook.taken.length, 1, 'once');
    await apply([[SIM_2, '2099-12-31']]);
    await pass(MINUTE_MS);
    t.same(hook.reported().slice(2), [`-plan_ending ${SIM_2}`]);
  },
);

t.test('a plan that has run out', TIMEOUT, async (t) => {
  const { clock, db, hook, operator, pass } = await operated(t);
  // The day of the check: it may be the next one by then.
  const today = new Date(clock.now() + 2 * MINUTE_MS).toISOString().slice(0, 10);
  await operator.call('applyFleet', {
    cards: [SIM_1, SIM_2].map((iccid, line) => ({ line: line + 1, iccid, plan_expires: today })),
  });
  await pass(MINUTE_MS);
  t.same(
    hook.taken.flatMap(({ body }) => body.data.raised).map(({ severity }) => severity),
    ['warning', 'warning'],
  );
  await sql`update cards set plan_expires = ${dayOf(-1)}::date`.execute(db);
  await pass(MINUTE_MS);
  const escalated = hook.taken.flatMap(({ body }) => body.data.escalated);
  t.match(escalated, [
    { subject: SIM_1, severity: 'critical', summary: /ended on .*; a customer has its number$/ },
  ]);
});
