// Ledger entries that a crash leaves behind, written as the crash would leave them, and the service's reaction to them.
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { connectChain } from '#control-plane/payments/chain/chain.ts';
import { connectRelayerWallet } from '#control-plane/payments/relayer-wallet.ts';
import { readX402 } from '#control-plane/payments/x402.ts';
import { createPaymentLedger } from '#control-plane/store/money/payments.ts';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import { ALICE, PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken, signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** A service with one number, and the ledger's own hands on its database. */
async function setup(t: Test) {
  const clock = new ManualClock();
  const { url, databaseUrl } = await rig.start(t, { clock, heartbeatMs: 10 * MINUTE_MS });
  await rig.connect(t, url, { slots: [slotAt(1)] });
  const db = await openTestDatabase(t, databaseUrl);
  const ledger = createPaymentLedger(db);
  const rpc = { ...rig.chain, rpcTimeoutMs: 10_000 };
  const chain = connectChain(rpc);
  const wallet = connectRelayerWallet({ ...rpc, key: RELAYER.privateKey });
  const asset = NETWORKS[rig.chain.chainId].usdc.address;
  const now = new Date(clock.now());
  const offer = {
    chainId: rig.chain.chainId,
    asset,
    payTo: PAY_TO.address,
    amountAtomic: PRICE,
    ...(await nameOf(chain, asset)),
  };
  const header = await signPaymentHeader(url, ALICE.privateKey);
  const { authorization } = (await readX402(header, [offer])).payments[0];
  const claim = await ledger.claim(authorization, { now, yearsAheadMax: 2, runsCode: false });
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
  return {
    url,
    clock,
    ledger,
    chain,
    wallet,
    authorization,
    payment: claim.payment,
    now,
    paid: async () => (await rig.chain.dollar.balanceOf(PAY_TO.address)) - before,
    available: () => availableAt(url),
    /** Housekeeping, minute by minute, until something holds. */
    eventually: (what: string, probe: () => Promise<boolean>) =>
      until(what, async () => {
        clock.advance(MINUTE_MS);
        // Each minute has its round, as on a real clock.
        await roundIsOver(clock);
        return probe();
      }),
    isSubscribed: async () => (await recoverToken(url, ALICE.privateKey)).status === 200,
  };
}

async function nameOf(chain: ReturnType<typeof connectChain>, asset: `0x${string}`) {
  const { name, version, decimals } = await chain.readAsset(asset);
  return { assetName: name, assetVersion: version, assetDecimals: decimals };
}

async function signed(rig: Awaited<ReturnType<typeof setup>>) {
  const simulation = await rig.chain.simulate(rig.authorization);
  if (simulation.kind !== 'ok') throw new Error(simulation.kind);
  const transaction = await rig.wallet.sign(simulation.call, 0);
  await rig.ledger.setInFlight(rig.payment.id, transaction, rig.now);
  return transaction;
}

t.test(
  'killed before signing: the claim is released, the number is free, the payer may pay again',
  async (t) => {
    const crashed = await setup(t);
    t.equal(await crashed.available(), 0, 'the number is reserved');
    await crashed.eventually('released', async () => (await crashed.available()) === 1);
    t.equal(await crashed.paid(), 0n);
    t.equal(
      (
        await crashed.ledger.claim(crashed.authorization, {
          now: crashed.now,
          yearsAheadMax: 2,
          runsCode: false,
        })
      ).kind,
      'claimed',
    );
  },
);

t.test('killed before it noted that a stranger had sent the authorization: applied once', async (t) => {
  const crashed = await setup(t);
  const { from, to, value, validAfter, validBefore, nonce, signature } = crashed.authorization;
  const args = [from, to, value, validAfter, validBefore, nonce, signature];
  await rig.chain.dollar.administer('transferWithAuthorization', args);
  await crashed.eventually('applied', crashed.isSubscribed);
  t.equal(await crashed.paid(), PRICE);
});

t.test('killed between signing and broadcast: sent after all, once, and applied', async (t) => {
  const crashed = await setup(t);
  await signed(crashed);
  await crashed.eventually('applied', crashed.isSubscribed);
  t.equal(await crashed.paid(), PRICE);
});

t.test('killed between the receipt and the subscription: applied once', async (t) => {
  const crashed = await setup(t);
  const { raw } = await signed(crashed);
  await crashed.chain.broadcast(raw);
  await crashed.eventually('applied', crashed.isSubscribed);
  const first = (await (await recoverToken(crashed.url, ALICE.privateKey)).json()) as { expires_at: string };
  crashed.clock.advance(5 * MINUTE_MS);
  const later = (await (await recoverToken(crashed.url, ALICE.privateKey)).json()) as { expires_at: string };
  t.equal(later.expires_at, first.expires_at, 'not extended again');
  t.equal(await crashed.paid(), PRICE);
});

t.test('the relayer’s nonce was taken by another transaction: signed again', async (t) => {
  const crashed = await setup(t);
  await signed(crashed);
  const relayer = rig.chain.control;
  const account = privateKeyToAccount(RELAYER.privateKey);
  const hash = await relayer.sendTransaction({ account, chain: null, to: account.address, value: 0n });
  await relayer.waitForTransactionReceipt({ hash });
  await crashed.eventually('applied', crashed.isSubscribed);
  t.equal(await crashed.paid(), PRICE);
});

t.test('the fee rises above what was signed: sent again for more, and moved once', async (t) => {
  const crashed = await setup(t);
  const { hash } = await signed(crashed);
  const dear = 1_000_000_000_000n;
  await rig.chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: dear });
  await rig.chain.control.mine({ blocks: 1 });
  await crashed.eventually('applied', crashed.isSubscribed);
  t.equal(await crashed.paid(), PRICE);
  t.equal(
    (await crashed.chain.resultOf(crashed.authorization, hash)).kind,
    'unknown',
    'not by the first one',
  );
});

t.test('the token refuses the transfer, mined and reverted: released, nothing moved', async (t) => {
  const crashed = await setup(t);
  await signed(crashed);
  await rig.chain.dollar.administer('blacklist', [ALICE.address]);
  t.teardown(() => rig.chain.dollar.administer('unBlacklist', [ALICE.address]));
  crashed.clock.advance(MINUTE_MS);
  await crashed.eventually('released', async () => (await crashed.available()) === 1);
  t.equal(await crashed.paid(), 0n);
});

t.test('the authorization expired before it was mined: released, nothing moved', async (t) => {
  const crashed = await setup(t);
  const transaction = await signed(crashed);
  await rig.chain.control.increaseTime({ seconds: 3_600 });
  await rig.chain.control.mine({ blocks: 1 });
  await crashed.eventually('released', async () => (await crashed.available()) === 1);
  t.equal(await crashed.paid(), 0n);
  await crashed.chain.broadcast(transaction.raw).catch(() => undefined);
  t.equal(await crashed.paid(), 0n, 'and never will');
});
