// Buying with the client library: the three ways to pay, the limit, and that nothing that goes wrong makes it pay twice.
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { PAYMENT_PROTOCOLS, type SignedPayment, signPayment } from '#control-plane/client/payments/sign.ts';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import { ALICE, BOB, PAY_TO } from '../../dev-stack/wallets.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { closePayments } from '../../fixtures/payments/closed-payments.ts';
import { paymentsBetween } from '../../fixtures/payments/payments-between.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const account = privateKeyToAccount(ALICE.privateKey);

const paidSoFar = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

async function service(t: Test, numbers = 1) {
  const { url } = await rig.start(t);
  await rig.connect(t, url, { slots: Array.from({ length: numbers }, (_, index) => slotAt(index + 1)) });
  return url;
}

t.test(
  'each protocol pays the price once and gives a token that works; the second time renews',
  async (t) => {
    const url = await service(t);
    for (const [index, protocol] of PAYMENT_PROTOCOLS.entries()) {
      const before = await paidSoFar();
      const client = new SimrackClient({ baseUrl: url });
      const bought = await client.subscribe({ account, protocol, maxAmount: PRICE });
      t.match(bought, { recovered: false, renewed: index > 0, number: slotAt(1).number }, protocol);
      t.equal((await paidSoFar()) - before, PRICE, protocol);
      t.match(await client.number(), { number: bought.number, expires_at: bought.expires_at }, protocol);
    }
  },
);

t.test('no more than the caller’s limit, and no refused payment, costs anything', async (t) => {
  const url = await service(t);
  const before = await paidSoFar();
  const client = new SimrackClient({ baseUrl: url });
  for (const protocol of PAYMENT_PROTOCOLS) {
    const onSigned = (): void => void t.fail('signed beyond the limit');
    await t.rejects(client.subscribe({ account, protocol, maxAmount: PRICE - 1n, onSigned }), {
      name: 'NotPayableError',
      message: /1,800 USDC.*1,799\.999999 USDC/,
    });
  }
  await t.rejects(client.subscribe({ account, maxAmount: PRICE, chainIds: [8453] }), {
    name: 'NotPayableError',
  });
  const poor = privateKeyToAccount(`0x${'7'.repeat(64)}`);
  await t.rejects(client.subscribe({ account: poor, maxAmount: PRICE }), {
    name: 'ApiError',
    status: 402,
    code: 'insufficient_funds',
  });
  t.equal(await paidSoFar(), before);
  t.equal(client.token, undefined);
});

t.test('a price that stays valid for more than a day is not signed', async (t) => {
  const challenge = await fetch(`${await service(t)}/subscribe`, { method: 'POST' });
  const json = await challenge.text();
  const now = new Date();
  const sign = (protocol: (typeof PAYMENT_PROTOCOLS)[number], seconds: number) => {
    const long = (text: string): string =>
      text
        .replace(/"maxTimeoutSeconds":\d+/g, `"maxTimeoutSeconds":${seconds}`)
        .replace(/expires="[^"]*"/g, `expires="${new Date(now.getTime() + seconds * 1000).toISOString()}"`);
    const headers = new Headers(challenge.headers);
    const required = Buffer.from(String(headers.get('payment-required')), 'base64').toString();
    headers.set('payment-required', Buffer.from(long(required)).toString('base64'));
    headers.set('www-authenticate', long(String(headers.get('www-authenticate'))));
    // Its domain of the token is read for MPP, too.
    const body = protocol === 'mpp' ? json : long(json);
    return signPayment(
      { status: 402, headers, json: JSON.parse(body) },
      { account, protocol, now, maxAmount: PRICE },
    );
  };
  for (const protocol of PAYMENT_PROTOCOLS) {
    t.match(await sign(protocol, 86_400), { payment: { value: String } }, protocol);
    await t.rejects(sign(protocol, 30 * 365 * 86_400), { name: 'NotPayableError' }, protocol);
  }
});

t.test('an empty pool is reported before anything is charged', async (t) => {
  const url = await service(t);
  await new SimrackClient({ baseUrl: url }).subscribe({ account, maxAmount: PRICE });
  const before = await paidSoFar();
  const second = new SimrackClient({ baseUrl: url });
  await t.rejects(second.subscribe({ account: privateKeyToAccount(BOB.privateKey), maxAmount: PRICE }), {
    status: 503,
    code: 'pool_exhausted',
    details: { available: 0 },
  });
  t.equal(await paidSoFar(), before);
});

for (const [name, spoil] of [
  ['a connection that breaks', (response: ServerResponse) => response.destroy()],
  ['a proxy’s page', (response: ServerResponse) => response.writeHead(502).end('<html>')],
  ['half an answer', (response: ServerResponse) => response.writeHead(200).end('{"token":"si')],
] as const) {
  t.test(`after paying, ${name}: the token is of a signature, and the money moved once`, async (t) => {
    const target = await service(t);
    const { url, payments } = await paymentsBetween(t, target, async (attempt, response, pass) => {
      if (attempt > 1) return pass();
      spoil(response);
    });
    const before = await paidSoFar();
    const client = new SimrackClient({ baseUrl: url });
    const waits: string[] = [];
    const bought = await client.subscribe({
      account,
      maxAmount: PRICE,
      onWait: ({ code }) => waits.push(code),
    });
    t.equal((await paidSoFar()) - before, PRICE);
    t.equal(bought.recovered, true);
    t.equal(waits.length, 1);
    t.equal(payments.length, 2);
    t.equal(new Set(payments).size, 1, 'one authorization, sent again');
    t.match(await new SimrackClient({ baseUrl: target, token: bought.token }).number(), {
      number: slotAt(1).number,
    });
  });
}

t.test(
  'a payment of a program that died is resumed by the next one, without another signature',
  async (t) => {
    const target = await service(t);
    const { url, payments } = await paymentsBetween(
      t,
      target,
      async (_, response) => void response.destroy(),
    );
    const before = await paidSoFar();
    const kept: SignedPayment[] = [];
    const first = new SimrackClient({ baseUrl: url }).subscribe({
      account,
      maxAmount: PRICE,
      settleTimeoutMs: 1,
      onSigned: (payment) => void kept.push(payment),
    });
    await t.rejects(first, { code: 'settlement_pending', message: /Do not pay again/ });
    t.equal(payments.length, 1);
    const next = new SimrackClient({ baseUrl: target });
    const bought = await next.subscribe({
      account,
      maxAmount: PRICE,
      resume: kept[0],
      onSigned: () => void t.fail('signed again'),
    });
    t.match(bought, { recovered: true, number: slotAt(1).number });
    t.equal((await paidSoFar()) - before, PRICE);
  },
);

t.test(
  'a resumed payment that an operator has closed: its own refusal, not that of the sign-in',
  async (t) => {
    const { url, databaseUrl } = await rig.start(t);
    await rig.connect(t, url);
    const client = new SimrackClient({ baseUrl: url });
    const kept: SignedPayment[] = [];
    const onSigned = (payment: SignedPayment): void => void kept.push(payment);
    await client.subscribe({ account, maxAmount: PRICE, onSigned });
    await closePayments(databaseUrl);
    await t.rejects(client.subscribe({ account, maxAmount: PRICE, resume: kept[0] }), {
      status: 409,
      code: 'payment_already_used',
      message: /closed this payment.* Contact the service/,
    });
  },
);

t.test('a 402 of a proxy, after the payment was sent, is no refusal of the payment', async (t) => {
  const { url, payments } = await paymentsBetween(t, await service(t), async (attempt, response, pass) => {
    if (attempt > 1) return pass();
    response.writeHead(402).end('<html>This deployment is disabled.');
  });
  const before = await paidSoFar();
  const bought = await new SimrackClient({ baseUrl: url }).subscribe({ account, maxAmount: PRICE });
  t.equal(bought.recovered, true);
  t.equal(new Set(payments).size, 1);
  t.equal((await paidSoFar()) - before, PRICE);
});
