// Receipts of money that went back: a refund by an operator, and a sale that a reorganization of the chain reverted.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { headOf, verifyReceipts } from '#control-plane/client/commands/receipt-verification.ts';
import { type ReceiptQuery, SimrackClient } from '#control-plane/client/simrack-client.ts';
import type { Receipt } from '#shared/api/receipts.ts';
import { ALICE, BOB, MINTER, type Wallet } from '../../dev-stack/wallets.ts';
import { signTransfer } from '../../fixtures/chain/authorizations.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { chainOfTest } from '../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { paidSubscriber } from '../../fixtures/payments/paid-subscriber.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { present } from '../../fixtures/payments/presented.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 300_000 };

const rig = await createRig();
const chain = rig.chain.control;

const keyFileOf = (t: Test): string => join(temporaryFolder(t), 'receipt.key');

const statementOf = ({ jws }: Receipt): Record<string, unknown> =>
  JSON.parse(Buffer.from(String(jws.split('.')[1]), 'base64url').toString());

/** The receipts of a wallet that has a subscription, each of which is verified. */
async function receiptsOf(t: Test, url: string, wallet: Wallet) {
  const { token } = (await (await recoverToken(url, wallet.privateKey)).json()) as { token: string };
  return statementsOf(t, new SimrackClient({ baseUrl: url, token }));
}

/** The same by its signature, with or without a subscription. */
const signedReceipts = (t: Test, url: string, wallet: Wallet) =>
  statementsOf(t, new SimrackClient({ baseUrl: url }), {
    account: privateKeyToAccount(wallet.privateKey),
  });

async function statementsOf(t: Test, client: SimrackClient, query: ReceiptQuery = {}) {
  const receipts: Receipt[] = [];
  for await (const receipt of client.allReceipts(query)) receipts.push(receipt);
  const { problems } = await verifyReceipts({ receipts, head: headOf(receipts) }, await client.receiptKeys());
  t.same(problems, []);
  return receipts.map(statementOf);
}

/** A service on a chain whose changes are undone after the test. */
async function onOwnChain(t: Test) {
  const clock = new ManualClock();
  const line = await chainOfTest(t, rig.chain);
  const { url, databaseUrl } = await rig.start(t, {
    clock,
    rpcUrl: line.url,
    heartbeatMs: 1_000 * MINUTE_MS,
    receiptKeyFile: keyFileOf(t),
  });
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  return {
    databaseUrl,
    line,
    url,
    /** Returns the data of the call that moves the money. */
    async pay(payer: Wallet): Promise<Hex> {
      const validBefore = Math.floor(clock.now() / 1000) + 300;
      const signer = privateKeyToAccount(payer.privateKey);
      const { data, header } = await signTransfer(signer, rig.chain, { validBefore });
      t.equal((await present(url, header)).status, 200);
      return data;
    },
    async minute(): Promise<void> {
      clock.advance(MINUTE_MS);
      await roundIsOver(clock);
    },
  };
}

t.test('a refund: its share and its transaction, once, in the chain of the wallet', TIMEOUT, async (t) => {
  const own = await paidSubscriber(t, rig, { agoDays: 165, service: { receiptKeyFile: keyFileOf(t) } });
  const { control, order, pay, payments, url } = own;
  const [sold] = await receiptsOf(t, url, ALICE);
  t.match(sold, { kind: 'sale', amount: String(PRICE), transaction: /^0x[0-9a-f]{64}$/ });
  t.match(await control(order()), { status: 0 });
  t.match(await control(order()), { status: 0 }, 'asked again');
  const [payment] = await payments();
  const hash = String(payment?.refund_hash);
  t.match(await chain.getTransactionReceipt({ hash: hash as `0x${string}` }), { status: 'success' });

  // The token ended with the subscription, and the wallet signs for its receipts.
  const account = privateKeyToAccount(ALICE.privateKey);
  const signed = await signedReceipts(t, url, ALICE);
  t.match(signed, [sold, { seq: 2, kind: 'refund', transaction: hash }]);
  t.equal(signed.length, 2);
  const file = join(temporaryFolder(t), 'receipts.json');
  const env = { HOME: temporaryFolder(t), SIMRACK_URL: url, WALLET_KEY: ALICE.privateKey };
  const printed = await runProgram('simrack', ['receipts', '--sign'], env);
  writeFileSync(file, printed.stdout);
  t.match(JSON.parse((await runProgram('simrack', ['verify', file], env)).stdout), { valid: true, count: 2 });
  t.same(await signedReceipts(t, url, BOB), [], 'another wallet has none');
  const forged = { address: account.address, signMessage: privateKeyToAccount(BOB.privateKey).signMessage };
  const stranger = new SimrackClient({ baseUrl: url });
  await t.rejects(stranger.receipts({ account: { ...account, ...forged } }), {
    status: 401,
    code: 'signature_mismatch',
  });
  t.same((await stranger.receipts({ account, after: 2 })).receipts, []);
  t.equal((await stranger.receipts({ account, limit: 1 })).has_more, true);

  // The same wallet pays again, and has its former chain.
  await pay();
  const statements = await receiptsOf(t, url, ALICE);
  t.match(statements, [
    sold,
    {
      seq: 2,
      kind: 'refund',
      payment_id: payment?.id,
      amount: String((PRICE * 199n) / 365n),
      transaction: hash,
      payer: ALICE.address.toLowerCase(),
      network: `eip155:${rig.chain.chainId}`,
      asset: String(sold?.['asset']),
    },
    { seq: 3, kind: 'sale', amount: String(PRICE) },
  ]);
  t.equal(statements.length, 3);
  t.notOk('paid_until' in (statements[1] ?? {}), 'a refund pays for no year');
});

t.test(
  'a renewal that the chain took back: reverted once, whatever the operator does',
  TIMEOUT,
  async (t) => {
    const { databaseUrl, line, minute, pay, url } = await onOwnChain(t);
    const control = (...args: string[]) =>
      runCommand(args, { DATABASE_URL: databaseUrl, RPC_URL: rig.chain.rpcUrl });
    await pay(BOB);
    await chain.mine({ blocks: SAFE_LAG_BLOCKS });
    await minute();
    await pay(BOB);
    const before = await receiptsOf(t, url, BOB);
    t.match(before, [{ kind: 'sale' }, { kind: 'sale' }]);

    // The block of the renewal is gone, and its transfer can never be sent again.
    line.interfere = async (method, forward) => {
      if (method === 'eth_sendRawTransaction') throw new Error('lost');
      return forward();
    };
    await chain.request({ method: 'anvil_reorg', params: [1, []] } as never);
    await chain.increaseTime({ seconds: 600 });
    await chain.mine({ blocks: 1 + SAFE_LAG_BLOCKS });
    const after = await until('the sale is reverted', async () => {
      await minute();
      const statements = await receiptsOf(t, url, BOB);
      return statements.length > 2 ? statements : undefined;
    });
    const [, renewal] = before;
    t.match(after, [
      ...before,
      {
        seq: 3,
        kind: 'sale_reverted',
        payment_id: renewal?.['payment_id'],
        amount: String(PRICE),
        transaction: renewal?.['transaction'],
      },
    ]);
    const { sub } = after[0] as { sub: string };
    const end = ['subscription', 'end', sub, '--reason', 'its renewal was taken back', '--yes'];
    const [, endsAt = ''] = /--ends-at (\S+)/.exec((await control(...end)).stderr) ?? [];
    t.match(await control(...end, '--ends-at', endsAt), { status: 0 });
    for (let count = 0; count < 3; count += 1) await minute();
    t.same(await receiptsOf(t, url, BOB), after, 'the operator who removes the year signs nothing more');
  },
);

t.test('a reorganization puts the transfer of a sale into another transaction', TIMEOUT, async (t) => {
  const { minute, pay, url } = await onOwnChain(t);
  const alices = await pay(ALICE);
  const [read] = await receiptsOf(t, url, ALICE);
  const bobs = await pay(BOB);
  await chain.request({ method: 'anvil_reorg', params: [2, []] } as never);
  const account = privateKeyToAccount(MINTER.privateKey);
  const hashes: Hex[] = [];
  for (const data of [alices, bobs]) {
    const hash = await chain.sendTransaction({ account, chain: null, to: rig.chain.dollar.asset, data });
    await chain.waitForTransactionReceipt({ hash });
    hashes.push(hash);
  }
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  const statements = await until('the sale is final', async () => {
    await minute();
    const all = await receiptsOf(t, url, ALICE);
    return all.length > 1 ? all : undefined;
  });
  t.not(read?.['transaction'], hashes[0]);
  const { at: _at, iat: _iat, prev: _prev, ...sale } = read ?? {};
  t.match(statements, [read, { ...sale, seq: 2, transaction: hashes[0] }], 'read before: one more');
  t.equal(statements.length, 2);
  const [bobsSale, ...more] = await receiptsOf(t, url, BOB);
  t.match(bobsSale, { seq: 1, kind: 'sale', transaction: hashes[1] }, 'unread until then: the final one');
  t.same(more, []);
});
