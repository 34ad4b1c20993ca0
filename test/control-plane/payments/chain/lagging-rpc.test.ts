// An RPC that knows less than it says: blocks, logs and receipts that lag. From what it does not show nothing follows.
import t, { type Test } from 'tap';
import { ALICE, PAY_TO } from '../../../dev-stack/wallets.ts';
import { PRICE } from '../../../fixtures/chain/paid-chain.ts';
import { type RpcProxy, startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { recoverToken, signPaymentHeader } from '../../../fixtures/payments/payer.ts';
import { availableAt, present } from '../../../fixtures/payments/presented.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
const MINUTE_MS = 60_000;
const { dollar } = rig.chain;

type Interference = NonNullable<RpcProxy['interfere']>;
interface RpcAnswer {
  result: string;
}

/** Its newest block is the one before the newest. */
const oneBlockBehind: Interference = async (method, forward) => {
  const answer = (await forward()) as RpcAnswer;
  if (method !== 'eth_blockNumber') return answer;
  return { ...answer, result: `0x${(Number(answer.result) - 1).toString(16)}` };
};

/** Answers one method with an error. */
const refusing =
  (refused: string): Interference =>
  async (method, forward) =>
    method === refused
      ? { jsonrpc: '2.0', id: 1, error: { code: -32_005, message: 'query exceeds the limit' } }
      : forward();

/** State of before the transfer, whatever block is asked for. */
const staleState: Interference = async (method, forward) => {
  const answer = (await forward()) as RpcAnswer;
  return method === 'eth_call' ? { ...answer, result: `0x${'0'.repeat(64)}` } : answer;
};

async function setUp(t: Test) {
  rpc.interfere = undefined;
  const clock = new ManualClock();
  const { url, databaseUrl } = await rig.start(t, {
    clock,
    rpcUrl: rpc.url,
    settlementWaitMs: 400,
    heartbeatMs: 1_000 * MINUTE_MS,
  });
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  const before = await dollar.balanceOf(PAY_TO.address);
  const header = await signPaymentHeader(url, ALICE.privateKey);
  const available = () => availableAt(url);
  return {
    clock,
    databaseUrl,
    header,
    available,
    paid: async () => (await dollar.balanceOf(PAY_TO.address)) - before,
    present: () => present(url, header),
    /** Some minutes of housekeeping with trouble: it asks, and nothing is decided. */
    async suffer(interfere: Interference) {
      rpc.interfere = interfere;
      for (let minute = 0; minute < 3; minute += 1) {
        rpc.asked.length = 0;
        await until('the chain was asked', () => {
          clock.advance(MINUTE_MS);
          return rpc.asked.includes('eth_getBlockByNumber');
        });
      }
      rpc.interfere = undefined;
    },
    isServed: () =>
      until('a subscription', async () => {
        clock.advance(MINUTE_MS);
        return (await recoverToken(url, ALICE.privateKey)).status === 200;
      }),
  };
}

const pending = { status: 503, body: { error: 'settlement_pending' } };
const noReceipts = refusing('eth_getTransactionReceipt');

for (const [trouble, interfere] of Object.entries({
  'logs end one block before the use': oneBlockBehind,
  'logs are refused': refusing('eth_getLogs'),
  'receipts are refused': noReceipts,
})) {
  t.test(`our transfer is mined and ${trouble}: pending, and applied in the end`, async (t) => {
    const { available, isServed, paid, present, suffer } = await setUp(t);
    rpc.interfere = noReceipts;
    t.match(await present(), pending);
    t.equal(await paid(), PRICE);
    await suffer(interfere);
    rpc.interfere = interfere;
    if (interfere !== oneBlockBehind) t.not((await present()).status, 402);
    rpc.interfere = undefined;
    t.equal(await available(), 1, 'its number stays its own');
    await isServed();
    t.equal(await paid(), PRICE);
  });
}

/** Neither its receipt nor its nonce is in a block, but the token knows the use. */
const minedElsewhere: Interference = async (method, forward, [, blockTag]) => {
  const answer = (await forward()) as RpcAnswer;
  if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash')
    return { ...answer, result: null };
  if (method !== 'eth_getTransactionCount' || blockTag !== 'latest') return answer;
  return { ...answer, result: `0x${(Number(answer.result) - 1).toString(16)}` };
};

t.test('a node that still counts our mined transfer as waiting: its record stays', async (t) => {
  const { databaseUrl, isServed, paid, present, suffer } = await setUp(t);
  rpc.interfere = noReceipts;
  t.match(await present(), pending);
  const db = await openTestDatabase(t, databaseUrl);
  const recorded = () =>
    db.selectFrom('payments').select(['transaction_hash', 'transaction_is_empty']).executeTakeFirstOrThrow();
  const before = await recorded();
  await suffer(minedElsewhere);
  t.same(await recorded(), before);
  await isServed();
  t.equal(await paid(), PRICE);
});

t.test('a stranger sent it and the log lags: no 402, and applied once it is seen', async (t) => {
  const { header, isServed, paid, present } = await setUp(t);
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
  const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, payload.signature];
  await dollar.administer('transferWithAuthorization', args);
  rpc.interfere = oneBlockBehind;
  t.match(await present(), pending);
  t.match(await present(), pending, 'asked again');
  rpc.interfere = undefined;
  await isServed();
  t.equal(await paid(), PRICE);
});

t.test('an expired authorization is not given up on a state from before the transfer', async (t) => {
  const { isServed, paid, present, suffer } = await setUp(t);
  rpc.interfere = noReceipts;
  t.match(await present(), pending);
  await rig.chain.control.increaseTime({ seconds: 600 });
  await rig.chain.control.mine({ blocks: 1 });
  await suffer(staleState);
  await isServed();
  t.equal(await paid(), PRICE);
});
