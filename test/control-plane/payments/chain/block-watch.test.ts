// Waits for transactions: what they ask of an RPC, and that none is missed when the RPC hides a block or lags.
import t, { type Test } from 'tap';
import { createPublicClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { BlockWatch } from '#control-plane/payments/chain/block-watch.ts';
import { RELAYER } from '../../../dev-stack/wallets.ts';
import { startPaidChain } from '../../../fixtures/chain/paid-chain.ts';
import { type RpcProxy, startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { until } from '../../../fixtures/until.ts';

const paid = await startPaidChain();
t.teardown(() => paid.stop());
const rpc = await startRpcProxy(t, paid.rpcUrl);
const { control } = paid;
const client = createPublicClient({ transport: http(rpc.url) });
const account = privateKeyToAccount(RELAYER.privateKey);
const TIMEOUT_MS = 60_000;
const FEES = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

const askedFor = (method: string): number => rpc.asked.filter((each) => each === method).length;

/** Transactions that wait for a block, and the answers of their waits. */
async function waiting(t: Test, count: number, interfere?: RpcProxy['interfere']) {
  const first = await control.getTransactionCount({ address: account.address });
  await control.setAutomine(false);
  t.teardown(() => control.setAutomine(true));
  const hashes: Hex[] = [];
  for (let each = 0; each < count; each += 1) {
    const call = { to: account.address, value: 0n, nonce: first + each, gas: 21_000n };
    hashes.push(await control.sendTransaction({ account, chain: null, ...call, ...FEES }));
  }
  rpc.asked.length = 0;
  rpc.interfere = interfere;
  t.teardown(() => {
    rpc.interfere = undefined;
  });
  const watch = new BlockWatch(client);
  const answers = hashes.map((hash) =>
    watch.until(hash, async () => (await client.getTransactionReceipt({ hash })).transactionHash, TIMEOUT_MS),
  );
  await until(
    'each has asked, and the head was read twice',
    () => askedFor('eth_getTransactionReceipt') >= count && askedFor('eth_blockNumber') >= 2,
  );
  return { answers, hashes };
}

t.test('many that wait read a block once, and then ask for a receipt each', async (t) => {
  const { answers, hashes } = await waiting(t, 40);
  rpc.asked.length = 0;
  await control.mine({ blocks: 1 });
  t.same(await Promise.all(answers), hashes);
  t.equal(askedFor('eth_getBlockByNumber'), 1);
  t.equal(askedFor('eth_getTransactionReceipt'), 40);
});

t.test('a transaction in a block that the RPC hides is found', async (t) => {
  const { answers, hashes } = await waiting(t, 1, async (method, forward) => {
    const answer = (await forward()) as { result: object };
    return method === 'eth_getBlockByNumber'
      ? { ...answer, result: { ...answer.result, transactions: [] } }
      : answer;
  });
  await control.mine({ blocks: 1 });
  t.same(await Promise.all(answers), hashes);
});

t.test('a receipt that comes later than its block is asked for until it is there', async (t) => {
  let hidden = 0;
  const { answers, hashes } = await waiting(t, 1, (method, forward) => {
    if (method !== 'eth_getTransactionReceipt' || askedFor(method) > 3) return forward();
    hidden += 1;
    return Promise.resolve({ jsonrpc: '2.0', id: 1, result: null });
  });
  await control.mine({ blocks: 1 });
  t.same(await Promise.all(answers), hashes);
  t.equal(hidden, 3);
});

t.test('an RPC that fails for a while ends no wait', async (t) => {
  let failed = 0;
  const { answers, hashes } = await waiting(t, 1, (method, forward) => {
    if (method !== 'eth_blockNumber' || askedFor(method) < 3 || failed > 3) return forward();
    failed += 1;
    return Promise.resolve({ jsonrpc: '2.0', id: 1, error: { code: -32_005, message: 'too many requests' } });
  });
  await control.mine({ blocks: 1 });
  t.same(await Promise.all(answers), hashes);
  t.ok(failed > 0);
});

t.test('a transaction that is not mined in time has no answer', async (t) => {
  const watch = new BlockWatch(client);
  t.equal(await watch.until(`0x${'1'.repeat(64)}`, async () => undefined, 300), undefined);
});
