// Accounts with code: Safe, EIP-7702 and counterfactual ones pay and sign in; those that lie take no more gas than the cap, and no number.
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import t, { type Test } from 'tap';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { DEPLOYMENT_GAS_MAX, TRANSFER_GAS_MAX } from '#control-plane/payments/chain/transfer-call.ts';
import { PAY_TO, RELAYER } from '../../../dev-stack/wallets.ts';
import { signTransfer } from '../../../fixtures/chain/authorizations.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../../fixtures/chain/paid-chain.ts';
import { chainOfTest, startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { type SmartAccount, startSmartAccounts } from '../../../fixtures/chain/smart-accounts.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { type Subscribed, signIn } from '../../../fixtures/payments/payer.ts';
import { type Answer, answerOf, availableAt, present } from '../../../fixtures/payments/presented.ts';
import { MINUTE_MS, roundIsOver } from '../../../fixtures/service/housekeeping.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const accounts = await startSmartAccounts(rig.chain);
const chain = rig.chain.control;

async function setUp(t: Test, options: Parameters<typeof rig.start>[1] = {}) {
  const service = await rig.start(t, { settlementWaitMs: 2_000, heartbeatMs: 6_000_000, ...options });
  await rig.connect(t, service.url, { slots: [slotAt(1), slotAt(2)] });
  return service.url;
}

const summary = ({ status, body }: Answer): string => `${status} ${String(body['error'] ?? 'ok')}`;

const signedIn = async (...asked: Parameters<typeof signIn>): Promise<Answer> =>
  answerOf(await signIn(...asked));

const HONEST = {
  'a Safe': accounts.safe,
  'an EIP-7702 account with its own key': accounts.delegated,
  'an EIP-7702 account with another key': accounts.delegatedToKey,
  'an account that is not deployed yet': accounts.counterfactual,
};

for (const [name, make] of Object.entries(HONEST)) {
  t.test(`${name} buys a number with an unmodified client, signs in and renews`, async (t) => {
    const url = await setUp(t);
    const account = await make();
    await account.fund(2n * PRICE);
    const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
    const client = new x402Client();
    registerExactEvmScheme(client, { signer: account as never });
    client.setSpendControls(false);
    const bought = await wrapFetchWithPayment(fetch, client)(`${url}/subscribe`, { method: 'POST' });
    t.equal(bought.status, 200);
    const { number, token } = (await bought.json()) as Subscribed;
    t.ok(token);
    t.match(await signedIn(url, account), { status: 200, body: { number } });
    const payingFetch = wrapFetchV1(fetch, account as never, PRICE);
    const renewed = await payingFetch(`${url}/subscribe`, { method: 'POST' });
    t.match(await answerOf(renewed), { status: 200, body: { renewed: true, number } });
    t.equal((await rig.chain.dollar.balanceOf(PAY_TO.address)) - before, 2n * PRICE);
    t.equal(await availableAt(url), 1);
  });
}

t.test('an account whose payment is open signs in to wait; once that is over, it has to pay', async (t) => {
  const line = await chainOfTest(t, rig.chain);
  const clock = new ManualClock();
  const url = await setUp(t, { rpcUrl: line.url, clock });
  const safe = await accounts.safe();
  await safe.fund(PRICE);
  t.equal(summary(await signedIn(url, safe)), '401 signature_mismatch', 'nothing is known of its code');
  line.interfere = async (method, forward) => {
    if (method === 'eth_sendRawTransaction') throw new Error('lost');
    return forward();
  };
  const validBefore = Math.floor(clock.now() / 1000) + 300;
  const paid = await present(url, (await signTransfer(safe, rig.chain, { validBefore })).header);
  t.equal(summary(paid), '503 settlement_pending');
  t.equal(summary(await signedIn(url, safe)), '503 settlement_pending');
  t.equal(summary(await signedIn(url, await accounts.safe(), safe.address)), '401 signature_mismatch');
  await chain.increaseTime({ seconds: 400 });
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  await until('it is over', async () => {
    clock.advance(MINUTE_MS);
    await roundIsOver(clock);
    return summary(await signedIn(url, safe)) === '402 no_active_subscription';
  });
});

t.test('another account, or another account’s key, signs in to nothing', async (t) => {
  const url = await setUp(t);
  const [safe, other] = [await accounts.safe(), await accounts.safe()];
  await safe.fund(PRICE);
  t.equal(summary(await present(url, (await signTransfer(safe, rig.chain)).header)), '200 ok');
  t.equal(summary(await signedIn(url, other, safe.address)), '401 signature_mismatch');
  t.equal(summary(await signedIn(url, other)), '401 signature_mismatch', 'a wallet without a subscription');
  t.equal(summary(await present(url, (await forged(safe, other)).header)), '402 invalid_signature');
});

/** An authorization of `payer`, signed by `signer`. */
const forged = (payer: SmartAccount, signer: SmartAccount) =>
  signTransfer({ address: payer.address, signTypedData: signer.signTypedData }, rig.chain);

t.test('a chain that does not answer is no wrong signature', async (t) => {
  const line = await startRpcProxy(t, rig.chain.rpcUrl);
  const url = await setUp(t, { rpcUrl: line.url });
  const safe = await accounts.safe();
  await safe.fund(2n * PRICE);
  t.equal(summary(await present(url, (await signTransfer(safe, rig.chain)).header)), '200 ok');
  line.interfere = async (method, forward) => {
    if (method === 'eth_call' || method === 'eth_getCode') throw new Error('gone');
    return forward();
  };
  t.equal(
    summary(await present(url, (await signTransfer(safe, rig.chain)).header)),
    '503 settlement_unavailable',
  );
  t.equal(summary(await signedIn(url, safe)), '503 unavailable');
  line.interfere = undefined;
  t.equal(summary(await signedIn(url, safe)), '200 ok');
});

// Contracts that detect whether a transaction pays for gas: a simulation is free.
const LIARS = {
  'a contract that burns': [accounts.lying1271, TRANSFER_GAS_MAX],
  'an EIP-7702 account that burns': [accounts.lying7702, TRANSFER_GAS_MAX],
  'a factory that burns': [accounts.lyingFactory6492, DEPLOYMENT_GAS_MAX],
  'an account that burns once it is deployed': [accounts.lyingAccount6492, DEPLOYMENT_GAS_MAX],
} as const;

for (const [name, [make, gasMax]] of Object.entries(LIARS)) {
  t.test(`${name} takes the cap at most, holds no number, and is refused for a while`, async (t) => {
    const clock = new ManualClock();
    const url = await setUp(t, { clock });
    const liar = await make({ trigger: 'gasPrice' });
    await liar.fund(PRICE);
    const attempt = async (): Promise<string> => {
      const validBefore = Math.floor(clock.now() / 1000) + 300;
      return summary(await present(url, (await signTransfer(liar, rig.chain, { validBefore })).header));
    };
    const spent = await gasSpent(async () => {
      t.equal(await attempt(), '503 settlement_pending');
      t.equal(await availableAt(url), 2, 'its number is free again');
      t.equal(await attempt(), '503 settlement_pending', 'one payment is open');
    });
    t.ok(spent > 0n && spent <= gasMax, `${spent} gas`);
    const spentLater = await gasSpent(async () => {
      const answers: string[] = [];
      for (let later = 0; later < 4; later += 1) {
        clock.advance(440_000);
        answers.push(await attempt());
      }
      t.same(answers, [
        '503 settlement_pending',
        '503 settlement_pending',
        '429 rate_limited',
        '429 rate_limited',
      ]);
    });
    t.ok(spentLater <= 2n * gasMax, `${spentLater} gas`);
    t.equal(await rig.chain.dollar.balanceOf(liar.address), PRICE, 'its dollars never moved');
  });
}

/** Gas of the relayer's transactions meanwhile. */
async function gasSpent(work: () => Promise<void>): Promise<bigint> {
  const from = await chain.getBlockNumber();
  await work();
  const to = await chain.getBlockNumber();
  let spent = 0n;
  for (let blockNumber = from + 1n; blockNumber <= to; blockNumber += 1n) {
    const block = await chain.getBlock({ blockNumber, includeTransactions: true });
    for (const { hash, from: sender } of block.transactions) {
      if (sender.toLowerCase() !== RELAYER.address.toLowerCase()) continue;
      spent += (await chain.getTransactionReceipt({ hash })).gasUsed;
    }
  }
  return spent;
}
