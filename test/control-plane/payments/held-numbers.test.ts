// Attackers who want every number reserved and pay nothing: with authorizations that the token calls used, with many at once, with
// transfers that cannot be mined. And the way out that operators have.
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ALICE, BOB, CAROL, MINTER, PAY_TO } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { randomNonce, signCancellation, signTransfer } from '../../fixtures/chain/authorizations.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { chainOfTest, type RpcProxy } from '../../fixtures/chain/rpc-proxy.ts';
import { startSmartAccounts } from '../../fixtures/chain/smart-accounts.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { type Answer, availableAt, present } from '../../fixtures/payments/presented.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const asset = rig.chain.dollar.asset;
const chain = rig.chain.control;
const stranger = { account: privateKeyToAccount(MINTER.privateKey), chain: null } as const;

/** So deep a log shows what the state shows, however far it lags. */
const SETTLED_BLOCKS = 70;

/** Transfers of a payer that may be rejected in a day. */
const REFUSALS_MAX = 3;

/** The RPC's answer about logs older than a search goes back, 25 hours before the end, and while its log lags. */
const hideLogs: RpcProxy['interfere'] = async (method, forward) =>
  method === 'eth_getLogs' ? { jsonrpc: '2.0', id: 1, result: [] } : forward();

const secondsOf = (clock: ManualClock): number => Math.floor(clock.now() / 1000);

/** A service with three numbers. All changes of the test to the chain are undone after it. */
async function setUp(t: Test) {
  const clock = new ManualClock();
  const line = await chainOfTest(t, rig.chain);
  const { url, databaseUrl } = await rig.start(t, {
    clock,
    heartbeatMs: 1_000 * MINUTE_MS,
    settlementWaitMs: 500,
    rpcUrl: line.url,
    graceDays: 1_000,
  });
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2), slotAt(3)] });
  await until('all are on sale', async () => (await availableAt(url)) === 3);
  const minute = async (): Promise<void> => {
    clock.advance(MINUTE_MS);
    await roundIsOver(clock);
  };
  return { url, databaseUrl, clock, line, minute };
}

const summary = ({ status, body }: Answer): string => `${status} ${String(body['error'])}`;

t.test('authorizations that were cancelled a day ago reserve nothing', async (t) => {
  const { url, clock, line } = await setUp(t);
  const payers = [1, 2, 3].map(() => privateKeyToAccount(generatePrivateKey()));
  const nonces = payers.map(randomNonce);
  for (const [index, payer] of payers.entries()) {
    const data = await signCancellation(payer, rig.chain, nonces[index] ?? '0x');
    await chain.waitForTransactionReceipt({
      hash: await chain.sendTransaction({ ...stranger, to: asset, data }),
    });
  }
  await chain.mine({ blocks: SETTLED_BLOCKS });
  line.interfere = hideLogs;
  for (const [index, payer] of payers.entries()) {
    const terms = { nonce: nonces[index] ?? '0x', validBefore: secondsOf(clock) + 300 } as const;
    const answer = await present(url, (await signTransfer(payer, rig.chain, terms)).header);
    t.equal(summary(answer), '409 payment_already_used');
    t.equal(await availableAt(url), 3, 'nothing is reserved');
  }
  // A subscriber whose year is over holds no number by this, either.
  t.equal((await recoverTokenOf(url, payers[0] as never)).status, 402, 'and no payment is open');
});

const recoverTokenOf = async (url: string, account: ReturnType<typeof privateKeyToAccount>) => {
  const { nonce, message } = (await (await fetch(`${url}/auth/nonce`, { method: 'POST' })).json()) as {
    nonce: string;
    message: string;
  };
  return fetch(
    `${url}/auth`,
    jsonPost({
      wallet: account.address,
      nonce,
      signature: await account.signMessage({ message }),
    }),
  );
};

t.test('a use that the RPC hides holds no number, and is void a day after its end', async (t) => {
  const { url, clock, line, minute } = await setUp(t);
  const signer = privateKeyToAccount(ALICE.privateKey);
  const nonce = randomNonce();
  const cancellation = await signCancellation(signer, rig.chain, nonce);
  await chain.waitForTransactionReceipt({
    hash: await chain.sendTransaction({ ...stranger, to: asset, data: cancellation }),
  });
  line.interfere = hideLogs;
  const validBefore = secondsOf(clock) + 300;
  const { header } = await signTransfer(signer, rig.chain, { nonce, validBefore });
  t.equal(summary(await present(url, header)), '503 settlement_pending');
  t.equal(await availableAt(url), 3, 'no number is held for it');
  await chain.increaseTime({ seconds: 25 * 60 * 60 });
  await chain.mine({ blocks: 1 });
  const { timestamp } = await chain.getBlock();
  clock.set(Number(timestamp) * 1000);
  await until('it is over', async () => {
    await minute();
    return (await recoverToken(url, ALICE.privateKey)).status === 402;
  });
  line.interfere = undefined;
});

t.test('a payer has one payment open, however many authorizations it signs', async (t) => {
  const { url, clock, line, minute } = await setUp(t);
  const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
  const signer = privateKeyToAccount(ALICE.privateKey);
  // Nothing is mined: the first one stays open.
  line.interfere = async (method, forward) => {
    if (method === 'eth_sendRawTransaction') throw new Error('lost');
    return forward();
  };
  const validBefore = secondsOf(clock) + 300;
  const headers: string[] = [];
  for (let index = 0; index < 4; index += 1) {
    headers.push((await signTransfer(signer, rig.chain, { validBefore })).header);
  }
  const answers = await Promise.all(headers.map((header) => present(url, header)));
  t.same(new Set(answers.map(summary)), new Set(['503 settlement_pending']));
  t.ok(answers.every(({ retryAfterSeconds }) => retryAfterSeconds !== undefined && retryAfterSeconds >= 10));
  t.equal(await availableAt(url), 2, 'one number is reserved');
  t.equal((await recoverToken(url, ALICE.privateKey)).status, 503, '/auth does not invite to pay');
  line.interfere = undefined;
  await until('it is settled', async () => {
    await minute();
    return (await recoverToken(url, ALICE.privateKey)).status === 200;
  });
  t.equal((await rig.chain.dollar.balanceOf(PAY_TO.address)) - before, PRICE, 'one year was paid');
});

t.test('a transfer that no block has room for is refused before anything is reserved', async (t) => {
  const { url, line } = await setUp(t);
  const accounts = await startSmartAccounts(rig.chain);
  for (const gas of [undefined, 28_000_000n]) {
    const dear = await accounts.expensive1271(gas);
    await dear.fund(PRICE);
    const { header } = await signTransfer(dear, rig.chain);
    const answer = await present(url, header);
    // Already the check of its signature is ended early.
    t.equal(summary(answer), '402 invalid_signature');
    t.equal(await availableAt(url), 3);
  }
  t.notOk(line.asked.includes('eth_sendRawTransaction'), 'nothing was sent');
});

t.test('a transaction that every node refuses for good gives its number back', async (t) => {
  const { url, line } = await setUp(t);
  line.interfere = async (method, forward) =>
    method === 'eth_sendRawTransaction'
      ? { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'exceeds block gas limit' } }
      : forward();
  const { header } = await signTransfer(privateKeyToAccount(BOB.privateKey), rig.chain, {
    validBefore: Math.floor(Number((await chain.getBlock()).timestamp)) + 3_600,
  });
  t.equal(summary(await present(url, header)), '503 settlement_pending');
  t.equal(await availableAt(url), 3, 'the number is free');
  t.equal(summary(await present(url, header)), '503 settlement_pending', 'and it brings no token later');
});

t.test('an operator ends what the chain proves to be over, and nothing else', async (t) => {
  const { url, clock, line, databaseUrl } = await setUp(t);
  line.interfere = async (method, forward) => {
    if (method === 'eth_sendRawTransaction') throw new Error('lost');
    return forward();
  };
  const validBefore = secondsOf(clock) + 300;
  const signer = privateKeyToAccount(CAROL.privateKey);
  const { header, data } = await signTransfer(signer, rig.chain, { validBefore });
  t.equal(summary(await present(url, header)), '503 settlement_pending');
  t.equal(await availableAt(url), 2);
  const env = { DATABASE_URL: databaseUrl, RPC_URL: rig.chain.rpcUrl, CHAIN_ID: String(rig.chain.chainId) };
  const control = (...args: string[]) => runCommand(args, env);
  const { stdout } = await control('payment', 'list', '--json');
  const [{ id }] = (JSON.parse(stdout) as { payments: [{ id: string }] }).payments;
  const early = await control('payment', 'void', id);
  t.match(early, { status: 2, stderr: /anyone can submit this authorization until/ });
  const unpaid = await chain.snapshot();
  await chain.waitForTransactionReceipt({
    hash: await chain.sendTransaction({ ...stranger, to: asset, data }),
  });
  t.match(await control('payment', 'void', id), { status: 2, stderr: /its money arrived with 0x/ });
  await chain.increaseTime({ seconds: 400 });
  await chain.mine({ blocks: 1 });
  line.interfere = hideLogs;
  const lagging = await runCommand(['payment', 'void', id], { ...env, RPC_URL: line.url });
  t.match(lagging, { status: 2, stderr: /the RPC does not show by which transaction/ });
  await chain.revert({ id: unpaid });
  await chain.increaseTime({ seconds: 400 });
  await chain.mine({ blocks: 1 });
  t.match(await control('payment', 'void', id), { status: 2, stderr: /a reorganization can still include/ });
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  t.match(await control('payment', 'void', id), { status: 0, stdout: /is void: it ended unused/ });
  t.equal(await availableAt(url), 3);
  t.match(await control('payment', 'void', id), { status: 0 }, 'and says so again');
});

t.test('transfers that were mined in vain after their end count against their payer', async (t) => {
  const { url, clock, minute } = await setUp(t);
  const payer = privateKeyToAccount(generatePrivateKey());
  await rig.chain.dollar.fund(payer.address, PRICE);
  t.teardown(() => chain.setAutomine(true));
  const pay = async () => {
    const terms = { validBefore: secondsOf(clock) + 300 };
    return summary(await present(url, (await signTransfer(payer, rig.chain, terms)).header));
  };
  for (let count = 0; count < REFUSALS_MAX; count += 1) {
    await chain.setAutomine(false);
    t.equal(await pay(), '503 settlement_pending');
    clock.advance(400_000);
    await chain.setNextBlockTimestamp({ timestamp: BigInt(secondsOf(clock)) });
    await chain.mine({ blocks: 1 });
    await chain.setAutomine(true);
    await chain.mine({ blocks: SAFE_LAG_BLOCKS });
    await until('its payment is over', async () => {
      await minute();
      return (await recoverTokenOf(url, payer)).status === 402;
    });
  }
  t.equal(await pay(), '429 rate_limited');
  t.equal(await rig.chain.dollar.balanceOf(payer.address), PRICE);
});
