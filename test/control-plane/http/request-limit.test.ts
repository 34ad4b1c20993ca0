// How often an address may ask for a nonce and sign in, through HTTP with the clock in hand.
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import type { Config } from '#control-plane/config.ts';
import { Refusal } from '#control-plane/domain/refusal.ts';
import { createAttemptLimit } from '#control-plane/http/attempt-limit.ts';
import { createRequestLimit } from '#control-plane/http/request-limit.ts';
import { BUYERS, type Wallet } from '../../dev-stack/wallets.ts';
import { ManualClock } from '../../fixtures/manual-clock.ts';
import { recoverToken } from '../../fixtures/payer.ts';
import { createRig } from '../../fixtures/rig.ts';
import { slotAt } from '../../fixtures/scripted-node.ts';
import { subscribeInStore } from '../../fixtures/subscribed.ts';

const rig = await createRig();
const [ALICE] = BUYERS as [Wallet];

async function setup(t: Test, options: Partial<Config>) {
  const clock = new ManualClock();
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
    const seconds = 60 / max;
    t.equal(refused.headers.get('retry-after'), String(seconds));
    t.equal(refused.headers.get('ratelimit-policy'), `"${name}";q=${max};w=60`);
    t.equal(refused.headers.get('ratelimit'), `"${name}";r=0;t=${seconds}`);
  }
  t.equal((await fetch(`${url}/availability`)).status, 200, 'nothing else is limited');
  clock.advance(20_000);
  t.same(await statusesOf([post(`${url}/auth/nonce`), post(`${url}/auth/nonce`)]), [200, 429]);
  t.equal((await post(`${url}/auth`)).status, 429);
  clock.advance(10_000);
  t.equal((await post(`${url}/auth`)).status, 400);
});

t.test(
  'all else is limited too: by address without a token, by subscription with one; what is left is told',
  async (t) => {
    const { url, clock, databaseUrl } = await setup(t, { requestsPerMinute: 3, tokenRequestsPerMinute: 2 });
    await rig.connect(t, url);
    const { headers } = await subscribeInStore(
      databaseUrl,
      ALICE,
      String(slotAt(1).number),
      new Date(clock.now()),
    );
    clock.advance(60_000);
    t.equal((await fetch(`${url}/number`, { headers })).status, 200);
    clock.advance(60_000);
    const left: (string | null)[] = [];
    for (const path of ['/availability', '/', '/llms.txt', '/demo']) {
      const answer = await fetch(url + path, { method: path === '/demo' ? 'POST' : 'GET' });
      t.equal(answer.status, path === '/demo' ? 429 : 200, path);
      left.push(answer.headers.get('ratelimit'));
      t.equal(answer.headers.get('ratelimit-policy'), '"address";q=3;w=60');
    }
    t.same(left, ['"address";r=2;t=20', '"address";r=1;t=40', '"address";r=0;t=60', '"address";r=0;t=20']);
    t.equal((await post(`${url}/subscribe`)).status, 429, 'before anything is reserved');
    const asked = [1, 2, 3].map(() => fetch(`${url}/number`, { headers }));
    t.same((await statusesOf(asked)).sort(), [200, 200, 429], 'with a token it has its own');
    t.equal((await fetch(`${url}/number`)).status, 429, 'who tries tokens is one without');
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

t.test('without a proxy X-Forwarded-For says nothing', async (t) => {
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
  t.equal((await signIn()).status, 429);
  clock.advance(60_000);
  t.equal((await signIn()).status, 200);
});

t.test('the addresses of an IPv6 /64 count as one, a mapped IPv4 address as itself', async (t) => {
  const limit = createRequestLimit(new ManualClock(), { name: 'token', max: 1, withinMs: 1_000 });
  limit('2001:db8:0:1::1');
  t.throws(() => limit('2001:db8:0:1:ffff::2'), { code: 'rate_limited' });
  limit('2001:db8:0:2::1');
  limit('::ffff:192.0.2.1');
  t.throws(() => limit('192.0.2.1'), { code: 'rate_limited' });
  limit('192.0.2.2');
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

t.test('whoever asks all the time gets as many as were promised, no fewer', async (t) => {
  const clock = new ManualClock();
  const limit = createRequestLimit(clock, { name: 'token', max: 30, withinMs: 60_000 });
  let taken = 0;
  for (let second = 0; second < 600; second += 1) {
    for (let tries = 0; tries < 5; tries += 1) {
      try {
        limit('192.0.2.1');
        taken += 1;
      } catch {}
    }
    clock.advance(1_000);
  }
  t.equal(taken, 30 + 299, 'the burst, and one every two seconds');
});

const refuse = (): Promise<never> => Promise.reject(new Refusal('unauthorized', 'no'));

t.test('only what is refused counts as a guess, and not what fails by a fault of ours', async (t) => {
  const attempts = createAttemptLimit(new ManualClock(), 2, 60_000);
  const attempt = (error: Error) => attempts.run('192.0.2.1', () => Promise.reject(error));
  for (let times = 0; times < 5; times += 1) {
    await t.rejects(attempt(new Error('the database is away')), /away/);
    await t.rejects(attempt(new Refusal('overloaded', 'the database is away')), /away/);
  }
  await t.rejects(attempts.run('192.0.2.1', refuse), /no/);
  await t.rejects(attempt(new Refusal('enrolment_refused', 'no such code')), /code/);
  await t.rejects(attempts.run('192.0.2.1', refuse), { code: 'rate_limited' });
});

t.test('a clock that was ahead and is set back locks nobody out', async (t) => {
  const clock = new ManualClock();
  const now = clock.now();
  const limit = createRequestLimit(clock, { name: 'token', max: 2, withinMs: 60_000 });
  const attempts = createAttemptLimit(clock, 1, 60_000);
  clock.set(now + 3_600_000);
  limit('192.0.2.1');
  await t.rejects(attempts.run('192.0.2.1', refuse));
  clock.set(now);
  for (let request = 0; request < 2; request += 1) t.doesNotThrow(() => limit('192.0.2.1'));
  t.throws(() => limit('192.0.2.1'), { code: 'rate_limited' });
  await t.resolves(attempts.run('192.0.2.1', async () => undefined));
});
