// How often an address may ask for a nonce and sign in, through HTTP with the clock in hand.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import type { Config } from '#control-plane/config/config.ts';
import { Refusal } from '#control-plane/domain/refusal.ts';
import { countRefused, createAddressLimit, createRequestLimit } from '#control-plane/http/request-limit.ts';
import { inTransaction } from '#control-plane/store/database/database.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { countStatements } from '../../fixtures/database/statements.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** Slots of windows of a minute. */
const SLOT_MS = 5_000;

async function setup(t: Test, options: Partial<Config>) {
  const clock = new ManualClock(Math.ceil(Date.now() / SLOT_MS) * SLOT_MS);
  const { url, databaseUrl } = await rig.start(t, { clock, ...options });
  return { url, clock, databaseUrl };
}

function post(url: string, from?: string): Promise<Response> {
  return fetch(url, { method: 'POST', headers: from === undefined ? {} : { 'X-Forwarded-For': from } });
}

const statusesOf = async (requests: readonly Promise<Response>[]): Promise<number[]> =>
  (await Promise.all(requests)).map(({ status }) => status);

t.test('nonces and attempts to sign in are limited, each for itself; time gives them back', async (t) => {
  const { url, clock } = await setup(t, { noncesPerMinute: 3, signInsPerMinute: 2 });
  for (const [path, answered, max, name] of [
    ['/auth/nonce', 200, 3, 'nonce'],
    ['/auth', 400, 2, 'auth'],
  ] as const) {
    for (let count = 0; count < max; count += 1) t.equal((await post(url + path)).status, answered);
    const refused = await post(url + path);
    t.equal(refused.status, 429, path);
    t.match(await refused.json(), { error: 'rate_limited', message: String });
    t.equal(refused.headers.get('retry-after'), '65', 'the window, and the slot that it was in');
    t.equal(refused.headers.get('ratelimit-policy'), `"${name}";q=${max};w=60`);
    t.equal(refused.headers.get('ratelimit'), `"${name}";r=0;t=65`);
  }
  t.equal((await fetch(`${url}/availability`)).status, 200, 'nothing else is limited');
  clock.advance(64_999);
  t.same(await statusesOf([post(`${url}/auth/nonce`), post(`${url}/auth`)]), [429, 429]);
  clock.advance(1);
  const again = [1, 2, 3, 4].map(() => post(`${url}/auth/nonce`));
  t.same((await statusesOf(again)).sort(), [200, 200, 200, 429]);
  t.equal((await post(`${url}/auth`)).status, 400);
});

t.test(
  'every other request is limited: by address without a token, by subscription with one; headers show the rest',
  async (t) => {
    const { url, clock, databaseUrl } = await setup(t, { requestsPerMinute: 3, tokenRequestsPerMinute: 2 });
    await linkNode(t, url);
    const { headers } = await subscribeInStore(
      databaseUrl,
      ALICE,
      String(slotAt(1).number),
      new Date(clock.now()),
    );
    t.equal((await fetch(`${url}/number`, { headers })).status, 200);
    clock.advance(65_000);
    const left: (string | null)[] = [];
    for (const path of ['/availability', '/', '/llms.txt', '/demo']) {
      const answer = await fetch(url + path, { method: path === '/demo' ? 'POST' : 'GET' });
      t.equal(answer.status, path === '/demo' ? 429 : 200, path);
      left.push(answer.headers.get('ratelimit'));
      t.equal(answer.headers.get('ratelimit-policy'), '"address";q=3;w=60');
    }
    t.same(left, ['"address";r=2;t=65', '"address";r=1;t=65', '"address";r=0;t=65', '"address";r=0;t=65']);
    t.equal((await post(`${url}/subscribe`)).status, 429, 'before anything is reserved');
    const asked = [1, 2, 3].map(() => fetch(`${url}/number`, { headers }));
    t.same((await statusesOf(asked)).sort(), [200, 200, 429], 'with a token it has its own');
    t.equal((await fetch(`${url}/number`)).status, 429, 'a client with a wrong token counts as one without');
    clock.advance(65_000);
    const refused = await fetch(`${url}/number`);
    t.equal(refused.status, 401);
    t.equal(refused.headers.get('ratelimit-policy'), '"address";q=3;w=60');
    t.equal(refused.headers.get('ratelimit'), '"address";r=2;t=65', 'as at 200 and 429');
    const fake = { Authorization: `Bearer ${'A'.repeat(43)}` };
    const [last] = [
      await fetch(`${url}/number`, { headers: fake }),
      await fetch(`${url}/number`, { headers: fake }),
    ];
    t.equal(last.headers.get('ratelimit'), '"address";r=1;t=65');
    t.equal((await fetch(`${url}/availability`)).status, 429, 'they were counted');
    t.equal((await fetch(`${url}/health/ready`)).status, 200, 'a proxy asks as often as it likes');
  },
);

t.test('behind a proxy each client has its own; a client cannot pretend to be another', async (t) => {
  const { url, databaseUrl } = await setup(t, { signInsPerMinute: 2, proxyHops: 1 });
  await rig.connect(t, url);
  await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number));
  const flood = (from: string): Promise<Response> => post(`${url}/auth`, from);
  t.same(await statusesOf(['a', 'b', 'c'].map((forged) => flood(`${forged}, 192.0.2.1`))), [400, 400, 429]);
  const owner = await recoverToken(url, ALICE.privateKey);
  t.equal(owner.status, 200, 'from another address');
  t.equal((await flood('192.0.2.2')).status, 400);
});

t.test('without a proxy X-Forwarded-For is ignored', async (t) => {
  const { url } = await setup(t, { signInsPerMinute: 2 });
  const statuses = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((from) => post(`${url}/auth`, from));
  t.same((await statusesOf(statuses)).sort(), [400, 400, 429]);
});

t.test('an attempt beyond the limit costs no nonce', async (t) => {
  const { url, clock, databaseUrl } = await setup(t, { signInsPerMinute: 1, serviceDomain: 'a.example' });
  await rig.connect(t, url);
  await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number), new Date(clock.now()));
  t.equal((await post(`${url}/auth`)).status, 400);
  const account = privateKeyToAccount(ALICE.privateKey);
  const { nonce, message } = (await (await post(`${url}/auth/nonce`)).json()) as Record<string, string>;
  const body = JSON.stringify({
    wallet: account.address,
    nonce,
    signature: await account.signMessage({ message: String(message) }),
  });
  const signIn = (): Promise<Response> =>
    fetch(`${url}/auth`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  const refused = await signIn();
  t.equal(refused.status, 429);
  clock.advance(Number(refused.headers.get('retry-after')) * 1000);
  t.equal((await signIn()).status, 200);
});

t.test('the addresses of an IPv6 /64 count as one, and those of a /48 as eight', async (t) => {
  const { url } = await setup(t, { signInsPerMinute: 2, proxyHops: 1 });
  const from = (address: string): Promise<Response> => post(`${url}/auth`, address);
  const first = await from('2001:db8:0:1::1');
  t.equal(first.headers.get('ratelimit-policy'), '"auth";q=2;w=60, "auth-48";q=16;w=60');
  t.equal(first.headers.get('ratelimit'), '"auth";r=1;t=65, "auth-48";r=15;t=65');
  t.equal((await from('2001:db8:0:1:ffff::2')).status, 400);
  const refused = await from('2001:db8:0:1:ffff:ffff:ffff:ffff');
  t.equal(refused.status, 429);
  t.equal(refused.headers.get('ratelimit'), '"auth";r=0;t=65', 'the /64 has none left');
  for (let count = 0; count < 30; count += 1) t.equal((await from('2001:db8:0:1::1')).status, 429);

  const statuses = [];
  for (let network = 2; network < 40; network += 1)
    statuses.push((await from(`2001:db8:0:${network.toString(16)}::1`)).status);
  t.equal(statuses.filter((status) => status === 400).length, 14, 'each from another /64 of the /48');
  const site = await from('2001:db8:0:ffff::1');
  t.equal(site.headers.get('ratelimit'), '"auth";r=1;t=65, "auth-48";r=0;t=65');
  t.equal(site.headers.get('retry-after'), '65');
  t.equal((await from('2001:db8:1::1')).status, 400, 'another /48');
  t.equal((await from('192.0.2.1')).headers.get('ratelimit-policy'), '"auth";q=2;w=60', 'IPv4 has no /48');
  t.equal(
    (await from('::ffff:192.0.2.1')).headers.get('ratelimit'),
    '"auth";r=0;t=65',
    'nor has a mapped one',
  );
  t.equal((await from('192.0.2.1')).status, 429);
});

t.test('an address is the same one however a proxy writes it', async (t) => {
  const { url } = await setup(t, { signInsPerMinute: 1, proxyHops: 1 });
  for (const [plain, ...others] of [
    ['192.0.2.1', '192.0.2.1:50001', '::ffff:192.0.2.1', '::FFFF:c000:201', '[::ffff:192.0.2.1]:443'],
    ['2001:db8::1', '[2001:db8::1]:443', '[2001:db8::1]', '2001:0DB8:0::1', '2001:db8:0:0:8000::'],
    ['fe80::1', 'fe80::2%eth0'],
  ] as const) {
    t.equal((await post(`${url}/auth`, plain)).status, 400, plain);
    for (const other of others) t.equal((await post(`${url}/auth`, other)).status, 429, other);
  }
  for (const other of ['192.0.2.2:50001', '[2001:db8:0:1::1]:443', '::1', 'unknown', '[]:1', '1.2.3:4', '%'])
    t.equal((await post(`${url}/auth`, other)).status, 400, other);
});

t.test('saved-up requests never exceed the policy in any minute; evenly spaced ones all pass', async (t) => {
  const { url, clock } = await setup(t, { signInsPerMinute: 30 });
  const burst = async (count: number): Promise<number> =>
    (await statusesOf(Array.from({ length: count }, () => post(`${url}/auth`)))).filter(
      (status) => status === 400,
    ).length;
  clock.advance(59_000);
  t.equal(await burst(60), 30, 'a burst at the end of a minute');
  clock.advance(2_000);
  t.equal(await burst(60), 0, 'and none at the beginning of the next');
  clock.advance(63_000);
  let passed = 0;
  for (let second = 0; second < 300; second += 1) {
    passed += await burst(1 + (second % 2));
    clock.advance(1_000);
  }
  t.ok(passed >= 5 * 27, `${passed} in five minutes`);
  t.ok(passed <= 5 * 30 + 30, `${passed} in five minutes`);
});

t.test('leaving the waitlist is limited by address, and costs no query beyond the limit', async (t) => {
  const { url, clock } = await setup(t, { requestsPerMinute: 5, proxyHops: 1 });
  await roundIsOver(clock);
  const statements = countStatements(t);
  const leave = (from: string, token: string, method = 'POST'): Promise<Response> =>
    fetch(`${url}/waitlist/unsubscribe?token=${token}`, { method, headers: { 'X-Forwarded-For': from } });
  for (let count = 0; count < 5; count += 1) t.equal((await leave('192.0.2.1', `guess${count}`)).status, 200);
  const before = statements();
  const refused = await leave('192.0.2.1', 'guess5');
  t.equal(refused.status, 429);
  t.match(refused.headers.get('ratelimit'), '"address";r=0;');
  t.equal((await leave('192.0.2.1', 'guess6', 'GET')).status, 429);
  t.equal(statements(), before);
  t.equal((await leave('192.0.2.2', 'guess7')).status, 200);
  clock.advance(Number(refused.headers.get('retry-after')) * 1000);
  t.equal((await leave('192.0.2.1', 'guess8')).status, 200);
});

const refuse = (): Promise<never> =>
  Promise.reject(new Refusal('unauthorized', 'no', { headers: { 'WWW-Authenticate': 'Bearer' } }));

t.test('only a refused token counts as a guess, not an internal error', async (t) => {
  const limit = createAddressLimit(new ManualClock(), { name: 'enrolment', max: 2, withinMs: 60_000 });
  const attempt = (error: Error) => countRefused(limit, '192.0.2.1', () => Promise.reject(error));
  for (let times = 0; times < 5; times += 1) {
    await t.rejects(attempt(new Error('the database is away')), /away/);
    await t.rejects(attempt(new Refusal('overloaded', 'the database is away')), /away/);
    await countRefused(limit, '192.0.2.1', async () => undefined);
  }
  await t.rejects(countRefused(limit, '192.0.2.1', refuse), {
    code: 'unauthorized',
    headers: { RateLimit: /^"enrolment";r=1;t=\d+$/, 'WWW-Authenticate': 'Bearer' },
  });
  await t.rejects(attempt(new Refusal('enrolment_refused', 'no such code')), /code/);
  await t.rejects(countRefused(limit, '192.0.2.1', refuse), { code: 'rate_limited' });
});

t.test('a hundred who ask at once for the numbers on sale share few counts of them', async (t) => {
  const { url, clock, databaseUrl } = await setup(t, {});
  const db = await openTestDatabase(t, databaseUrl);
  await roundIsOver(clock);
  const statements = countStatements(t);
  const asked = await inTransaction(db, async (trx) => {
    await sql`lock table numbers in access exclusive mode`.execute(trx);
    let arrived = 0;
    const onRequest = (): void => {
      arrived += 1;
    };
    subscribe('http.server.request.start', onRequest);
    t.teardown(() => unsubscribe('http.server.request.start', onRequest));
    const answers = Array.from({ length: 100 }, () => fetch(`${url}/availability`));
    await until('all have come', () => arrived >= 100);
    await until('the first waits', waitsForLock(db));
    return { answers };
  });
  t.same(new Set(await statusesOf(asked.answers)), new Set([200]));
  t.ok(statements() <= 10, `${statements()} statements`);
});

t.test('simultaneous guesses get no more tries than consecutive ones', async (t) => {
  const limit = createAddressLimit(new ManualClock(), { name: 'enrolment', max: 10, withinMs: 60_000 });
  let tried = 0;
  const guess = async (): Promise<never> => {
    tried += 1;
    return refuse();
  };
  await Promise.allSettled(Array.from({ length: 100 }, () => countRefused(limit, '192.0.2.1', guess)));
  t.equal(tried, 10);
});

t.test('a clock that was ahead and is set back locks no client out', async (t) => {
  const clock = new ManualClock();
  const now = clock.now();
  const limit = createRequestLimit(clock, { name: 'token', max: 2, withinMs: 60_000 });
  clock.set(now + 3_600_000);
  await limit.count('192.0.2.1');
  clock.set(now);
  for (let request = 0; request < 2; request += 1) await limit.count('192.0.2.1');
  await t.rejects(limit.count('192.0.2.1'), { code: 'rate_limited' });
});
