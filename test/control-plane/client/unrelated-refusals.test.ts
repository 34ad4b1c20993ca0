// Refusals that say nothing about a payment that was sent: of a proxy that wants money itself, and of the sign-in after it. One authorization is signed.
import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import { ALICE, PAY_TO } from '../../dev-stack/wallets.ts';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { type Between, paymentsBetween } from '../../fixtures/payments/payments-between.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const account = privateKeyToAccount(ALICE.privateKey);
const paidSoFar = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

/** A service with two numbers behind a proxy that handles payments. */
async function shop(t: Test, handle: Between) {
  const { url: target } = await rig.start(t);
  await rig.connect(t, target, { slots: [slotAt(1), slotAt(2)] });
  const before = await paidSoFar();
  const paid = async (): Promise<bigint> => ((await paidSoFar()) - before) / PRICE;
  return { ...(await paymentsBetween(t, target, handle)), target, paid };
}

/** The 402 of x402 version 1 that other services send; some of their codes are also those of this one. */
function foreignPrice(response: ServerResponse, error: string, retryAfter: string): void {
  const headers = { 'content-type': 'application/json', 'retry-after': retryAfter };
  response.writeHead(402, headers).end(JSON.stringify({ x402Version: 1, error, accepts: [] }));
}

for (const error of ['X-PAYMENT header is required', 'payment_required', 'insufficient_funds'])
  t.test(`the 402 “${error}” of a proxy, after an answer was lost`, async (t) => {
    const { url, payments, paid } = await shop(t, async (attempt, response, pass) => {
      if (attempt === 1) response.destroy();
      else if (attempt === 2) foreignPrice(response, error, '1');
      else await pass();
    });
    const bought = await new SimrackClient({ baseUrl: url }).subscribe({ account, maxAmount: PRICE });
    t.equal(bought.recovered, true);
    t.equal(payments.length, 3);
    t.equal(new Set(payments).size, 1, 'one signature');
    t.equal(await paid(), 1n);
  });

t.test('the 402 of a proxy ends no payment of the command line, in this run or the next', async (t) => {
  let isForeign = true;
  const { url, payments, paid } = await shop(t, async (attempt, response, pass) => {
    if (attempt === 1) response.destroy();
    else if (isForeign) foreignPrice(response, 'X-PAYMENT header is required', '400');
    else await pass();
  });
  const { simrack, kept } = commandLine(t, url);
  const file = kept(url, `payment-${ALICE.address.toLowerCase()}.json`);
  for (const run of ['the first run', 'a run that resumes']) {
    const pending = await simrack('subscribe', '--json');
    t.match(pending.failure(), { error: 'settlement_pending', status: 503 }, run);
    t.equal(pending.status, 4, run);
    t.ok(existsSync(file), run);
  }
  isForeign = false;
  t.match((await simrack('subscribe')).json(), { outcome: 'recovered' });
  t.equal(new Set(payments).size, 1, 'one signature');
  t.equal(await paid(), 1n);
});

t.test('a refused sign-in after the payment was applied is no refusal of the payment', async (t) => {
  const { url, payments, paid } = await shop(t, async (attempt, response, pass) => {
    if (attempt === 1) response.destroy();
    else await pass();
  });
  // As after a sleep of the computer that outlasts the nonce: the service refuses the signature.
  const asleep = { ...account, signMessage: () => account.signMessage({ message: 'another nonce' }) };
  const client = new SimrackClient({ baseUrl: url });
  const options = { account: asleep, maxAmount: PRICE, settleTimeoutMs: 3_000 };
  await t.rejects(client.subscribe(options), {
    code: 'settlement_pending',
    status: 503,
    cause: { code: 'signature_mismatch' },
  });
  t.equal(new Set(payments).size, 1, 'one signature');
  t.equal(await paid(), 1n);
});
