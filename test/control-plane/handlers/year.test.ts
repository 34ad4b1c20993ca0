// The year of a subscription on a clock that tests move: its last second, its end, grace time, renewal, clocks set back.
import t, { type Test } from 'tap';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber, paySubscribe, recoverToken } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/** Alice has the number of a linked node until `expiresAt`; payments are made now, as the chain's clock is. */
async function setUp(t: Test, expiresAt = (now: number) => new Date(now + YEAR_MS)) {
  const clock = new ManualClock(Math.floor(Date.now() / SECOND_MS) * SECOND_MS);
  const { url, databaseUrl } = await rig.start(t, {
    clock,
    heartbeatMs: 10 * YEAR_MS,
    settlementWaitMs: 500,
  });
  const node = await rig.connect(t, url, { journalId: 'journal-1' });
  const account = await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number));
  const db = await openTestDatabase(t, databaseUrl);
  const end = expiresAt(clock.now());
  await db
    .updateTable('subscriptions')
    .set({ created_at: new Date(end.getTime() - YEAR_MS), expires_at: end })
    .execute();
  const ask = async (method: string, path: string, token = account.token): Promise<number> => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = method === 'POST' ? JSON.stringify({ to: '+13105550188', body: 'hi' }) : null;
    return (await fetch(url + path, { method, headers, body })).status;
  };
  const expiry = async () =>
    (await db.selectFrom('subscriptions').select('expires_at').executeTakeFirstOrThrow()).expires_at;
  return { url, clock, node, account, end, ask, expiry };
}

const BEARER_ROUTES = [
  ['GET', '/number'],
  ['GET', '/sms/receive'],
  ['GET', '/sms/messages'],
  ['POST', '/sms/send'],
] as const;

t.test('after the end of the year every bearer route is 401 and /auth is 402, and not before', async (t) => {
  const { url, clock, end, ask } = await setUp(t);
  clock.set(end.getTime() - 1);
  for (const [method, path] of BEARER_ROUTES) t.equal(await ask(method, path), 200, `${path} in the last ms`);
  clock.set(end);
  for (const [method, path] of BEARER_ROUTES) t.equal(await ask(method, path), 401, path);
  t.equal((await recoverToken(url, ALICE.privateKey)).status, 402);
});

t.test('a renewal further ahead than the operator allows is refused before any money moves', async (t) => {
  const clock = new ManualClock();
  const { url } = await rig.start(t, { clock, paidAheadYearsMax: 2, heartbeatMs: 10 * YEAR_MS });
  await rig.connect(t, url, { slots: [slotAt(1)] });
  const { renewed } = await buyNumber(url, ALICE.privateKey);
  t.equal(renewed, false);
  const { expires_at } = await buyNumber(url, ALICE.privateKey);
  const before = await rig.chain.dollar.balanceOf(ALICE.address);
  const refused = await paySubscribe(url, ALICE.privateKey);
  t.equal(refused.status, 409);
  t.match(await refused.json(), { error: 'paid_ahead', expires_at });
  t.equal(await rig.chain.dollar.balanceOf(ALICE.address), before);
});

t.test('paid in the last second: a year from the end, to the millisecond', async (t) => {
  const { url, end } = await setUp(t, (now) => new Date(now + SECOND_MS));
  const renewed = await buyNumber(url, ALICE.privateKey);
  const next = new Date(end);
  next.setUTCFullYear(end.getUTCFullYear() + 1);
  t.match(renewed, { renewed: true, expires_at: next.toISOString() });
});

t.test('paid in the last second, mined after the end: a year from when the money came', async (t) => {
  const { url, clock, account, end, ask, expiry } = await setUp(t, (now) => new Date(now + SECOND_MS));
  await rig.chain.control.setAutomine(false);
  t.teardown(() => rig.chain.control.setAutomine(true));
  t.equal((await paySubscribe(url, ALICE.privateKey)).status, 503, 'not mined yet');
  clock.set(end.getTime() + 2 * SECOND_MS);
  t.equal(await ask('GET', '/number'), 401, 'it has ended meanwhile');
  await rig.chain.control.setAutomine(true);
  await rig.chain.control.mine({ blocks: 1 });
  await until('the money is applied', async () => {
    clock.advance(60 * SECOND_MS);
    return (await expiry()) > end;
  });
  t.equal(await ask('GET', '/number'), 200);
  const yearAfter = new Date(clock.now());
  yearAfter.setUTCFullYear(yearAfter.getUTCFullYear() + 1);
  const early = yearAfter.getTime() - (await expiry()).getTime();
  t.ok(early >= 0 && clock.now() - early > end.getTime(), 'from the round that saw it');
  t.match(await (await recoverToken(url, ALICE.privateKey)).json(), { number: account.number });
});

// From the calendar: 2028 and 2032 have a 29 February, 2027, 2029 and 2100 have none.
for (const [from, to] of [
  ['2028-02-29T23:59:59.999Z', '2029-02-28T23:59:59.999Z'],
  ['2028-02-29T00:00:00.000Z', '2029-02-28T00:00:00.000Z'],
  ['2031-02-28T12:00:00.000Z', '2032-02-28T12:00:00.000Z'],
  ['2031-03-01T00:00:00.000Z', '2032-03-01T00:00:00.000Z'],
  ['2096-02-29T06:30:00.000Z', '2097-02-28T06:30:00.000Z'],
  ['2027-12-31T23:59:59.999Z', '2028-12-31T23:59:59.999Z'],
] as const) {
  t.test(`a year after ${from} is ${to}`, async (t) => {
    const { url } = await setUp(t, () => new Date(from));
    t.match(await buyNumber(url, ALICE.privateKey), { renewed: true, expires_at: to });
  });
}

t.test('within the grace time: the same number, its messages, its tokens, a year from now', async (t) => {
  const { url, clock, node, account, ask } = await setUp(t, (now) => new Date(now - 30 * DAY_MS + SECOND_MS));
  t.equal(await ask('GET', '/number'), 401);
  await node.report({ ...received('came in grace time'), sent_at: null });
  const now = new Date(clock.now());
  const renewed = await buyNumber(url, ALICE.privateKey);
  const next = new Date(now);
  next.setUTCFullYear(now.getUTCFullYear() + 1);
  t.match(renewed, { number: account.number, renewed: true, expires_at: next.toISOString() });
  t.equal(await ask('GET', '/number'), 200, 'only /auth revokes');
  const inbox = await fetch(`${url}/sms/receive`, { headers: { Authorization: `Bearer ${renewed.token}` } });
  t.match(await inbox.json(), { count: 1, messages: [{ body: 'came in grace time' }] });
});

t.test('a clock that was ahead and is set back loses nothing and shortens no year', async (t) => {
  const { url, clock, node, end, ask, expiry } = await setUp(t);
  const now = clock.now();
  clock.set(now + 3 * YEAR_MS);
  t.equal(await ask('GET', '/number'), 401);
  const { nonce } = (await (await fetch(`${url}/auth/nonce`, { method: 'POST' })).json()) as {
    nonce: string;
  };
  t.ok(nonce);
  await node.report(received('by a clock that is ahead'));
  clock.set(now);
  t.equal(await ask('GET', '/number'), 200);
  t.equal(await ask('GET', '/sms/messages'), 200);
  t.equal(await ask('GET', '/sms/receive'), 200);
  t.equal((await recoverToken(url, ALICE.privateKey)).status, 200);
  t.same(await expiry(), end);
  clock.set(now - 60 * SECOND_MS);
  const next = new Date(end);
  next.setUTCFullYear(end.getUTCFullYear() + 1);
  t.match(await buyNumber(url, ALICE.privateKey), { renewed: true, expires_at: next.toISOString() });
});
