// POST /subscribe on a real chain with the unmodified x402 client, on Postgres and on PGlite.
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Config } from '#control-plane/config/config.ts';
import type { Clock } from '#shared/clock.ts';
import { ALICE, BOB, CAROL, PAY_TO } from '../../dev-stack/wallets.ts';
import { PRICE, startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber, paySubscribe, recoverToken, signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { availableAt, present } from '../../fixtures/payments/presented.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const chain = await startPaidChain();
const postgres = await openDatabases();
t.teardown(() => Promise.all([chain.stop(), postgres.stop()]));

async function setup(
  t: Test,
  options: Partial<Config> & { clock?: Clock; numbers?: number; databaseUrl?: string } = {},
) {
  const databaseUrl = options.dataDir === undefined ? await postgres.createMigrated() : undefined;
  const service = await startControlPlane(chain, { databaseUrl, ...options });
  t.teardown(() => service.stop());
  const slots = Array.from({ length: options.numbers ?? 3 }, (_, index) => slotAt(index));
  const node = await linkNode(t, service.url, { slots });
  await until('numbers on sale', async () => (await availableAt(service.url)) === slots.length);
  return { url: service.url, node, service };
}

const paidSoFar = (): Promise<bigint> => chain.dollar.balanceOf(PAY_TO.address);

const post = (url: string, headers: Record<string, string>): Promise<Response> =>
  fetch(`${url}/subscribe`, { method: 'POST', headers });

t.test('an unpaid request gets the challenge of the service document', async (t) => {
  const { url } = await setup(t);
  const response = await post(url, {});
  t.equal(response.status, 402);
  t.match(response.headers.get('content-type'), 'application/json');
  t.match(await response.json(), {
    x402Version: 1,
    error: 'payment_required',
    accepts: [
      {
        scheme: 'exact',
        network: 'base-sepolia',
        amount: '1800000000',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        payTo: PAY_TO.address,
        maxTimeoutSeconds: 300,
        extra: { name: 'USDC', version: '2' },
      },
    ],
  });
});

t.test('any request without a payment gets it, before anything else is checked', async (t) => {
  const { url } = await setup(t, { numbers: 0 });
  const bodies: [type: string, body: string | Uint8Array<ArrayBuffer>][] = [
    ['application/json', '{'],
    ['application/json', '{"wallet":1}'],
    ['text/plain', 'hello'],
    ['application/x-www-form-urlencoded', 'a=b'],
    ['multipart/form-data', 'no boundary'],
    ['nonsense', ''],
    ['application/octet-stream', new Uint8Array(200_000)],
  ];
  for (const [type, body] of bodies) {
    for (const headers of [{}, { Authorization: 'Bearer simrack_unknown' }, { Accept: 'text/html' }]) {
      const sent = { 'Content-Type': type, ...headers };
      const response = await fetch(`${url}/subscribe`, {
        method: 'POST',
        headers: sent,
        body,
      });
      t.equal(response.status, 402, type);
      t.match(await response.json(), { error: 'payment_required', accepts: [{ scheme: 'exact' }] }, type);
      t.match(response.headers.get('cache-control'), 'no-store');
      t.ok(response.headers.get('payment-required'));
      t.match(response.headers.get('www-authenticate'), /^Payment id=".*method="evm", intent="charge"/);
    }
  }
});

for (const database of ['postgres', 'pglite'] as const) {
  t.test(`the x402 client buys a number, and renews it, on ${database}`, async (t) => {
    const folder = temporaryFolder(t);
    const { url } = await setup(t, database === 'pglite' ? { dataDir: folder } : {});
    const before = await paidSoFar();

    const first = await buyNumber(url, ALICE.privateKey);
    t.match(first.number, /^\+1206555\d{4}$/);
    t.equal(first.renewed, false);
    t.equal((await paidSoFar()) - before, PRICE, '1800 dollars moved');
    t.equal(await availableAt(url), 2);

    const second = await buyNumber(url, ALICE.privateKey);
    t.equal(second.number, first.number);
    t.equal(second.renewed, true);
    t.equal((await paidSoFar()) - before, 2n * PRICE);
    t.equal(await availableAt(url), 2, 'a renewal takes no number');
    const yearLater = new Date(first.expires_at);
    yearLater.setUTCFullYear(yearLater.getUTCFullYear() + 1);
    t.equal(second.expires_at, yearLater.toISOString());

    for (const { token } of [first, second]) {
      const number = await fetch(`${url}/number`, { headers: { Authorization: `Bearer ${token}` } });
      t.match(await number.json(), { number: first.number, plan: 'yearly', expires_at: second.expires_at });
    }
  });
}

t.test('a renewal needs no free number; a new wallet gets 503 and pays nothing', async (t) => {
  const { url } = await setup(t, { numbers: 1 });
  const first = await buyNumber(url, ALICE.privateKey);
  const before = await paidSoFar();
  const refused = await paySubscribe(url, BOB.privateKey);
  t.equal(refused.status, 503);
  t.match(await refused.json(), {
    error: 'pool_exhausted',
    message: String,
    check_availability: '/availability',
    join_waitlist: '/waitlist',
    available: 0,
  });
  t.equal(await paidSoFar(), before);
  t.match(await buyNumber(url, ALICE.privateKey), { number: first.number, renewed: true });
});

t.test('100 copies of one credential move the money once and make one subscription', async (t) => {
  const { url } = await setup(t);
  const before = await paidSoFar();
  const header = await signPaymentHeader(url, ALICE.privateKey);
  const answers = await Promise.all(Array.from({ length: 100 }, () => present(url, header)));
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
    const error = String(body['error']);
    t.ok([409, 503].includes(status) && /already_used|settlement_pending/.test(error), `${status} ${error}`);
  }
  t.equal((await paidSoFar()) - before, PRICE);
  t.equal(await availableAt(url), 2);
});

t.test('20 wallets race for 3 numbers: each number is sold once, no wallet pays for nothing', async (t) => {
  const { url } = await setup(t, { numbers: 3 });
  const before = await paidSoFar();
  const wallets = Array.from({ length: 20 }, () => generatePrivateKey());
  for (const key of wallets) await chain.dollar.fund(privateKeyToAccount(key).address, PRICE);
  const answers = await Promise.all(wallets.map((key) => paySubscribe(url, key)));
  const sold = answers.filter(({ status }) => status === 200);
  t.equal(sold.length, 3);
  const refused = answers.filter(({ status }) => status !== 200);
  for (const answer of refused) t.match(await answer.json(), { error: 'pool_exhausted' });
  const numbers = new Set(
    await Promise.all(sold.map(async (answer) => ((await answer.json()) as { number: string }).number)),
  );
  t.equal(numbers.size, 3);
  t.equal((await paidSoFar()) - before, 3n * PRICE);
});

t.test('a replay of a settled payment gets no token, and points to /auth', async (t) => {
  const { url } = await setup(t);
  const header = await signPaymentHeader(url, ALICE.privateKey);
  t.equal((await post(url, { 'X-PAYMENT': header })).status, 200);
  const replay = await post(url, { 'X-PAYMENT': header });
  t.equal(replay.status, 409);
  const body = await replay.text();
  t.match(body, 'payment_already_used');
  t.match(body, '/auth');
  t.notMatch(body, 'token":');
});

t.test(
  'money that a stranger moved with the authorization counts, but gives the presenter no token',
  async (t) => {
    const { url } = await setup(t);
    const header = await signPaymentHeader(url, CAROL.privateKey);
    const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
    const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
    await chain.dollar.administer('transferWithAuthorization', [
      from,
      to,
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      nonce,
      payload.signature,
    ]);
    const answer = await post(url, { 'X-PAYMENT': header });
    t.equal(answer.status, 409);
    t.match(await answer.json(), { error: 'payment_already_used' });
    const recovered = await recoverToken(url, CAROL.privateKey);
    t.equal(recovered.status, 200, 'the payer has a subscription');
  },
);

t.test('both payment headers at once are 400, and the payment is not used', async (t) => {
  const { url } = await setup(t);
  const header = await signPaymentHeader(url, ALICE.privateKey);
  const both = await post(url, { 'X-PAYMENT': header, Authorization: 'Payment abc' });
  t.equal(both.status, 400);
  t.match(await both.json(), { error: 'invalid_request' });
  t.equal((await post(url, { 'X-PAYMENT': header })).status, 200);
});

t.test('a payment that is not mined in time is 503, and becomes a subscription once it is', async (t) => {
  const clock = new ManualClock();
  const { url } = await setup(t, { clock, settlementWaitMs: 300 });
  const header = await signPaymentHeader(url, BOB.privateKey);
  const before = await paidSoFar();
  await chain.control.setAutomine(false);
  t.teardown(() => chain.control.setAutomine(true));
  const answer = await post(url, { 'X-PAYMENT': header });
  t.equal(answer.status, 503);
  t.ok(answer.headers.get('retry-after'));
  t.match(await answer.json(), { error: 'settlement_pending' });
  t.match(await (await post(url, { 'X-PAYMENT': header })).json(), { error: 'settlement_pending' });

  await chain.control.setAutomine(true);
  await chain.control.mine({ blocks: 1 });
  t.equal((await paidSoFar()) - before, PRICE);
  const recovered = await until('the reconciler', async () => {
    clock.advance(60_000);
    const response = await recoverToken(url, BOB.privateKey);
    return response.status === 200 ? response : undefined;
  });
  t.match(await recovered.json(), { number: String, token: /^simrack_/ });
  t.equal((await paidSoFar()) - before, PRICE, 'still once');
});
