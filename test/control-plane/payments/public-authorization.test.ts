// Once an authorization is on chain, or on its way there, anyone can read and send it: the test checks that this does no harm.
import t, { type Test } from 'tap';
import { concat, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import type { Config } from '#control-plane/config/config.ts';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/payment-networks.ts';
import type { Clock } from '#shared/clock.ts';
import { ALICE, BOB, CAROL, MINTER, PAY_TO, type Wallet } from '../../dev-stack/wallets.ts';
import { type SignedTransfer, signCancellation, signTransfer } from '../../fixtures/chain/authorizations.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber, recoverToken, signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { availableAt, present } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const ABI = parseAbi([
  'function transfer(address to, uint256 value)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
const MINUTE_MS = 60_000;

const rig = await createRig();
const asset = rig.chain.dollar.asset;
const chain = rig.chain.control;

async function setup(t: Test, options: Partial<Config> & { clock?: Clock } = {}) {
  const { url } = await rig.start(t, { heartbeatMs: 10 * MINUTE_MS, ...options });
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  t.teardown(() => chain.setAutomine(true));
  const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
  return {
    url,
    paid: async () => (await rig.chain.dollar.balanceOf(PAY_TO.address)) - before,
    pay: (header: string) => present(url, header),
  };
}

const payloadOf = (header: string) => JSON.parse(Buffer.from(header, 'base64').toString()).payload;

/** The transaction data that settles a header: what everyone can read on chain. */
function calldataOf(header: string): Hex {
  const { authorization: a, signature } = payloadOf(header);
  return encodeFunctionData({
    abi: ABI,
    functionName: 'transferWithAuthorization',
    args: [a.from, a.to, BigInt(a.value), BigInt(a.validAfter), BigInt(a.validBefore), a.nonce, signature],
  });
}

/** Runs a payment whose transaction is mined just after another one, with this data for the token. */
async function outrun<T>(
  pay: () => Promise<T>,
  { sender = MINTER, data, blocks = 1 }: { sender?: Wallet; data: Hex; blocks?: number },
): Promise<T> {
  await chain.setAutomine(false);
  const paying = pay();
  await until('in the mempool', async () => Number((await chain.getTxpoolStatus()).pending) === 1);
  await chain.sendTransaction({
    account: privateKeyToAccount(sender.privateKey),
    chain: null,
    to: asset,
    gas: 200_000n,
    data,
    maxPriorityFeePerGas: 50_000_000_000n,
    maxFeePerGas: 100_000_000_000n,
  });
  await chain.mine({ blocks });
  const answer = await paying;
  await chain.setAutomine(true);
  return answer;
}

/** Runs a payment of Alice's whose transaction is mined after one that spends her money: it reverts. */
async function revert<T>(pay: () => Promise<T>): Promise<T> {
  const balance = await rig.chain.dollar.balanceOf(ALICE.address);
  const data = encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [BOB.address, balance] });
  const answer = await outrun(pay, { sender: ALICE, data });
  await rig.chain.dollar.fund(ALICE.address, 100n * PRICE);
  return answer;
}

t.test(
  'a payment that was mined and reverted is no ticket for a stranger who read it on chain',
  async (t) => {
    const { url, pay, paid } = await setup(t);
    await buyNumber(url, ALICE.privateKey);
    const header = await signPaymentHeader(url, ALICE.privateKey);
    const refused = {
      status: 503,
      body: { error: 'settlement_pending', message: /Sign a new payment after that/ },
    };
    t.match(await revert(() => pay(header)), refused);
    const replayed = await pay(header);
    t.match(replayed, refused);
    t.notOk(replayed.body['token']);
    t.equal(await paid(), PRICE, 'only the first year was paid');
  },
);

t.test(
  'an address whose payments are mined in vain again and again waits, whichever wallets they are of',
  async (t) => {
    const { url } = await setup(t, { proxyHops: 1, refusedTransfersPerDay: 1 });
    const pay = async (privateKey: Hex, from: string) =>
      (await present(url, await signPaymentHeader(url, privateKey), from)).status;
    t.equal(await revert(() => pay(ALICE.privateKey, '192.0.2.1')), 503);
    t.equal(await pay(CAROL.privateKey, '192.0.2.1'), 429);
    const asked = { method: 'POST', headers: { 'X-Forwarded-For': '192.0.2.1' } };
    t.equal((await fetch(`${url}/subscribe`, asked)).status, 402, 'the price is shown');
    t.equal(await pay(CAROL.privateKey, '192.0.2.2'), 200);
    t.equal(await pay(BOB.privateKey, '192.0.2.2'), 200, 'payments that pay do not count');
  },
);

t.test('a payment that is mined in vain counts against its address, whatever came before it', async (t) => {
  const cancel = (account: LocalAccount, { nonce }: SignedTransfer) =>
    signCancellation(account, rig.chain, nonce);
  const cases = [
    { before: 'a cancellation', dataOf: cancel, blocks: 1, status: 503 },
    { before: 'a cancellation in a safe block', dataOf: cancel, blocks: 1 + SAFE_LAG_BLOCKS, status: 402 },
    {
      before: 'the same transfer',
      dataOf: async (_: LocalAccount, { data }: SignedTransfer) => data,
      blocks: 1,
      status: 409,
    },
  ];
  for (const { before, blocks, dataOf, status } of cases) {
    const { url } = await setup(t, { proxyHops: 1, refusedTransfersPerDay: 1 });
    const payer = privateKeyToAccount(generatePrivateKey());
    await rig.chain.dollar.fund(payer.address, PRICE);
    const signed = await signTransfer(payer, rig.chain);
    const data = await dataOf(payer, signed);
    const answer = await outrun(() => present(url, signed.header, '192.0.2.1'), { data, blocks });
    t.equal(answer.status, status, before);
    const next = await present(url, await signPaymentHeader(url, CAROL.privateKey), '192.0.2.1');
    t.match(next, { status: 429, body: { error: 'rate_limited' } }, before);
  }
});

t.test('money of an authorization that reverted first and is mined later still counts', async (t) => {
  const clock = new ManualClock();
  const { url, pay, paid } = await setup(t, { clock });
  const header = await signPaymentHeader(url, ALICE.privateKey);
  t.equal((await revert(() => pay(header))).status, 503);
  const hash = await chain.sendTransaction({
    account: privateKeyToAccount(MINTER.privateKey),
    chain: null,
    to: asset,
    gas: 300_000n,
    data: calldataOf(header),
  });
  await chain.waitForTransactionReceipt({ hash });
  t.equal(await paid(), PRICE);
  await until('the payer has a number', async () => {
    clock.advance(MINUTE_MS);
    return (await recoverToken(url, ALICE.privateKey)).status === 200;
  });
});

t.test('one transfer is one year, however many authorizations its transaction used up', async (t) => {
  const { url, pay, paid } = await setup(t);
  const real = await signPaymentHeader(url, CAROL.privateKey);
  const decoy = await signPaymentHeader(url, CAROL.privateKey);
  const account = privateKeyToAccount(CAROL.privateKey);
  // The decoy's nonce is used for one atom to oneself, in one transaction with the real payment.
  const { validAfter, validBefore, nonce } = payloadOf(decoy).authorization;
  const self = { from: account.address, to: account.address, value: 1n };
  const window = { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), nonce };
  const signature = await account.signTypedData({
    domain: { name: 'USDC', version: '2', chainId: rig.chain.chainId, verifyingContract: asset },
    types: TRANSFER_WITH_AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { ...self, ...window },
  });
  const selfCall = encodeFunctionData({
    abi: ABI,
    functionName: 'transferWithAuthorization',
    args: [self.from, self.to, self.value, window.validAfter, window.validBefore, nonce, signature],
  });
  const batcher = '0x00000000000000000000000000000000000f0f0f';
  await chain.setCode({ address: batcher, bytecode: batcherCode(asset, (selfCall.length - 2) / 2) });
  const hash = await chain.sendTransaction({
    account,
    chain: null,
    to: batcher,
    gas: 1_000_000n,
    data: concat([selfCall, calldataOf(real)]),
  });
  await chain.waitForTransactionReceipt({ hash });
  t.equal(await paid(), PRICE);

  t.match(await pay(decoy), { status: 402, body: { error: 'authorization_used' } });
  t.match(await pay(real), { status: 409, body: { error: 'payment_already_used' } });
  const { expires_at } = (await (await recoverToken(url, CAROL.privateKey)).json()) as { expires_at: string };
  t.ok(new Date(expires_at).getTime() < Date.now() + 367 * 86_400_000, 'one year');
});

/** EVM code that calls `target` with the first `size` bytes of its call data, and then with the next. */
function batcherCode(target: Hex, size: number): Hex {
  const word = size.toString(16).padStart(4, '0');
  const call = (offset: string): string =>
    `61${word}61${offset}600037` + `6000600061${word}60006000` + `73${target.slice(2)}5af150`;
  return `0x${call('0000')}${call(word)}00`;
}

t.test('while it may be mined the answer is 503, whatever clock and chain say; never 402', async (t) => {
  const clock = new ManualClock();
  const { url, pay, paid } = await setup(t, { clock, settlementWaitMs: 300 });
  const header = await signPaymentHeader(url, ALICE.privateKey);
  await chain.setAutomine(false);
  t.match(await pay(header), { status: 503, body: { error: 'settlement_pending' } });
  clock.advance(Number(payloadOf(header).authorization.validBefore) * 1000 - clock.now() - 9_000);
  t.match(await pay(header), { status: 503, body: { error: 'settlement_pending' } });
  await chain.mine({ blocks: 1 });
  t.equal(await paid(), PRICE);
});

t.test('a stranger’s transaction that is not mined yet: 503, and a subscription once it is', async (t) => {
  const clock = new ManualClock();
  const { url, pay, paid } = await setup(t, { clock });
  const header = await signPaymentHeader(url, BOB.privateKey);
  await chain.setAutomine(false);
  await chain.sendTransaction({
    account: privateKeyToAccount(MINTER.privateKey),
    chain: null,
    to: asset,
    gas: 300_000n,
    data: calldataOf(header),
  });
  t.match(await pay(header), { status: 503, body: { error: 'settlement_pending' } });
  await chain.mine({ blocks: 1 });
  await chain.setAutomine(true);
  t.equal(await paid(), PRICE);
  await until('the payer has a number', async () => {
    clock.advance(MINUTE_MS);
    return (await recoverToken(url, BOB.privateKey)).status === 200;
  });
  t.equal(await paid(), PRICE, 'once');
});

t.test('a relayer without gas: 503, nothing stays reserved, the same payment works later', async (t) => {
  const relayerKey = generatePrivateKey();
  const { url, pay, paid } = await setup(t, { relayerKey });
  const header = await signPaymentHeader(url, ALICE.privateKey);
  t.match(await pay(header), { status: 503, body: { error: 'settlement_unavailable' } });
  t.equal(await availableAt(url), 2);
  await chain.setBalance({ address: privateKeyToAccount(relayerKey).address, value: 10n ** 18n });
  t.match(await pay(header), { status: 200, body: { token: String } });
  t.equal(await paid(), PRICE);
});
