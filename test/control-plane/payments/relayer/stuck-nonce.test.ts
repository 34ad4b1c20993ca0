// A transfer that was too cheap to be mined: whatever becomes of it, the payments after it are not stuck behind its nonce.
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { MINTER } from '../../../dev-stack/wallets.ts';
import { signCancellation, signTransfer } from '../../../fixtures/chain/authorizations.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../../fixtures/chain/paid-chain.ts';
import { chainOfTest } from '../../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { recoverToken } from '../../../fixtures/payments/payer.ts';
import { present } from '../../../fixtures/payments/presented.ts';
import { fundedRelayer, holdBlocks, watchMoney } from '../../../fixtures/payments/relayer-rotation.ts';
import { runCommand } from '../../../fixtures/run-command.ts';
import { MINUTE_MS } from '../../../fixtures/service/housekeeping.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const TIMEOUT = { timeout: 120_000 };
/** A transfer of nothing to an account without code. */
const EMPTY_GAS = 21_000n;

const rig = await createRig();
const chain = rig.chain.control;
const ETHER = 10n ** 18n;

const seconds = (clock: ManualClock): bigint => BigInt(Math.floor(clock.now() / 1000));

/** A payment whose transaction waits, because the fees rose after it was sent. */
async function tooCheap(t: Test) {
  const relayer = await fundedRelayer(rig);
  const clock = new ManualClock();
  const line = await chainOfTest(t, rig.chain);
  const refundKey = generatePrivateKey();
  const payTo = privateKeyToAccount(refundKey).address;
  await chain.setBalance({ address: payTo, value: ETHER });
  const { url, databaseUrl } = await rig.start(t, {
    clock,
    rpcUrl: line.url,
    payTo,
    relayerKey: relayer.key,
    // On a busy machine the transaction that takes the nonce needs a second of it.
    settlementWaitMs: 4_000,
    heartbeatMs: 1_000 * MINUTE_MS,
  });
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  const signed = async () => {
    const { key } = await fundedRelayer(rig);
    const payer = privateKeyToAccount(key);
    await rig.chain.dollar.fund(payer.address, PRICE);
    const validBefore = Number(seconds(clock)) + 300;
    return { payer, key, ...(await signTransfer(payer, rig.chain, { to: payTo, validBefore })) };
  };
  const first = await signed();
  await holdBlocks(t, rig);
  t.equal((await present(url, first.header)).status, 503);
  const money = await watchMoney(t, rig, databaseUrl);
  const [{ transaction_hash: sent } = {}] = await money.rows();
  const { maxFeePerGas = 0n } = await chain.getTransaction({ hash: sent as Hex });
  const rise = () => chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 2n * maxFeePerGas });
  await rise();
  await chain.mine({ blocks: 1 });
  t.equal(await chain.getTransactionCount({ address: relayer.address }), 0, 'too cheap for this block');
  // Anvil forgets it here. Other nodes keep what is too cheap, and count it.
  line.interfere = async (method, forward, [, blockTag]) => {
    const answer = (await forward()) as { result?: string };
    const isCount = method === 'eth_getTransactionCount' && blockTag === 'pending';
    return isCount && answer.result === '0x0' ? { ...answer, result: '0x1' } : answer;
  };
  return {
    clock,
    databaseUrl,
    first,
    payTo,
    refundKey,
    relayer,
    rise,
    signed,
    url,
    money,
    mined: () => chain.getTransactionCount({ address: relayer.address }),
  };
}

type Stuck = Awaited<ReturnType<typeof tooCheap>>;

/** In a block before anything of the service. */
async function sendAsStranger(data: Hex): Promise<Hex> {
  const account = privateKeyToAccount(MINTER.privateKey);
  const to = rig.chain.dollar.asset;
  const hash = await chain.sendTransaction({ account, chain: null, to, data, gas: 300_000n });
  await chain.mine({ blocks: 1 });
  await chain.waitForTransactionReceipt({ hash });
  return hash;
}

/** Mines until what is mined now is safe, with fees that do not fall. */
async function becomesSafe({ rise }: Stuck): Promise<void> {
  for (let block = 0; block < SAFE_LAG_BLOCKS + 1; block += 1) {
    await rise();
    await chain.mine({ blocks: 1 });
  }
}

/** The next payer gets a number though no minute passes: no round of the service runs. */
async function sellsOn(t: Test, { money, mined, signed, url }: Stuck): Promise<void> {
  await chain.setAutomine(true);
  const next = await signed();
  const startedAtMs = performance.now();
  t.match(await present(url, next.header), { status: 200, body: { token: String } });
  t.comment(`settled in ${Math.round(performance.now() - startedAtMs)} ms`);
  t.equal(await mined(), 2);
  const [stuck] = await money.rows();
  const receipt = await chain.getTransactionReceipt({ hash: stuck?.transaction_hash as Hex });
  t.match(receipt, { status: 'success', gasUsed: EMPTY_GAS, logs: [] }, 'an empty one took the nonce');
}

t.test('its payer cancels it: the next sale is settled at once', TIMEOUT, async (t) => {
  const stuck = await tooCheap(t);
  const { clock, first, money, url } = stuck;
  await sendAsStranger(await signCancellation(first.payer, rig.chain, first.nonce));
  await sellsOn(t, stuck);
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  await until('it has ended', async () => {
    clock.advance(MINUTE_MS);
    return (await money.rows())[0]?.state === 'void';
  });
  t.match(await present(url, first.header), { status: 402, body: { error: 'authorization_used' } });
});

t.test(
  'its payer sends it for a higher fee: the next sale is settled at once, and his year is his',
  TIMEOUT,
  async (t) => {
    const stuck = await tooCheap(t);
    const { clock, first, money, payTo, url } = stuck;
    const own = await sendAsStranger(first.data);
    await sellsOn(t, stuck);
    await until('the payer has a number', async () => {
      clock.advance(MINUTE_MS);
      return (await recoverToken(url, first.key)).status === 200;
    });
    t.match((await money.rows())[0], { state: 'applied', transfer_hash: own });
    t.equal(await rig.chain.dollar.balanceOf(payTo), 2n * PRICE, 'each paid once');
  },
);

t.test('an operator refunds it while it waits: the next sale is settled at once', TIMEOUT, async (t) => {
  const stuck = await tooCheap(t);
  const { databaseUrl, first, money, refundKey } = stuck;
  const own = await sendAsStranger(first.data);
  const rows = await money.rows();
  t.match(rows, [{ state: 'in_flight' }]);
  await becomesSafe(stuck);
  await chain.setAutomine(true);
  const refund = await runCommand(
    ['payment', 'refund', String(rows[0]?.id), '--transfer', own, '--reason', 'it came twice', '--yes'],
    {
      DATABASE_URL: databaseUrl,
      RPC_URL: rig.chain.rpcUrl,
      CHAIN_ID: String(rig.chain.chainId),
      REFUND_KEY: refundKey,
    },
  );
  t.match(refund, { status: 0, stderr: '', stdout: /is refunded: 1800 USDC/ });
  t.equal(await rig.chain.dollar.balanceOf(first.payer.address), PRICE);
  await sellsOn(t, stuck);
  t.match((await money.rows())[0], { state: 'refunded' });
});

t.test(
  'a payment expires while its relayer has no ether; paid again, the service sells on',
  TIMEOUT,
  async (t) => {
    const stuck = await tooCheap(t);
    const { clock, first, mined, relayer, signed, url } = stuck;
    await chain.setBalance({ address: relayer.address, value: 1n });
    clock.advance(310_000);
    await chain.setNextBlockTimestamp({ timestamp: seconds(clock) });
    await becomesSafe(stuck);
    clock.advance(MINUTE_MS);
    await chain.setBalance({ address: relayer.address, value: ETHER });
    await until('its nonce is mined', async () => {
      clock.advance(MINUTE_MS);
      await chain.mine({ blocks: 1 });
      return (await mined()) === 1;
    });
    await chain.setAutomine(true);
    await chain.setNextBlockTimestamp({ timestamp: seconds(clock) });
    await chain.mine({ blocks: SAFE_LAG_BLOCKS });
    await until('the next payer gets a number', async () => {
      clock.advance(MINUTE_MS);
      await chain.increaseTime({ seconds: 60 });
      return (await present(url, (await signed()).header)).status === 200;
    });
    t.match(
      await present(url, first.header),
      { status: 402, body: { error: 'authorization_used' } },
      'it moved nothing',
    );
  },
);
