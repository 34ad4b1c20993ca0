// Another transaction in the place of ours, with its nonce: the service finds out its effect, and no payer is asked to pay again.
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ALICE, PAY_TO, RELAYER } from '../../../dev-stack/wallets.ts';
import { PRICE } from '../../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { recoverToken, signPaymentHeader } from '../../../fixtures/payments/payer.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
const MINUTE_MS = 60_000;
const relayer = privateKeyToAccount(RELAYER.privateKey);
const chain = rig.chain.control;
const FEES = { maxFeePerGas: 2_000_000_000_000n, maxPriorityFeePerGas: 500_000_000_000n };

/** Pays, and mines `replace` in the place of what waits in the pool. */
async function payReplaced(
  t: Test,
  replace: (ours: { nonce: number; to: Hex; data: Hex }) => Promise<Hex>,
  settlementWaitMs = 10_000,
) {
  const clock = new ManualClock();
  const { url } = await rig.start(t, {
    clock,
    rpcUrl: rpc.url,
    heartbeatMs: 1_000 * MINUTE_MS,
    settlementWaitMs,
  });
  await rig.connect(t, url, { slots: [slotAt(1)] });
  const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
  const header = await signPaymentHeader(url, ALICE.privateKey);
  await chain.setAutomine(false);
  t.teardown(() => chain.setAutomine(true));
  const answering = fetch(`${url}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
  const ours = await until('our transaction', async () => {
    const { pending } = await chain.getTxpoolContent();
    const [waiting] = Object.values(Object.values(pending)[0] ?? {});
    return waiting && { nonce: Number(waiting.nonce), to: waiting.to as Hex, data: waiting.input };
  });
  const mined = await replace(ours);
  await chain.mine({ blocks: 1 });
  const response = await answering;
  await chain.setAutomine(true);
  return {
    clock,
    mined,
    response,
    url,
    paid: async () => (await rig.chain.dollar.balanceOf(PAY_TO.address)) - before,
  };
}

t.test('replaced by one that moves nothing: pending, then signed again, and moved once', async (t) => {
  const { clock, paid, response, url } = await payReplaced(
    t,
    ({ nonce }) =>
      chain.sendTransaction({
        account: relayer,
        chain: null,
        to: relayer.address,
        value: 0n,
        nonce,
        gas: 21_000n,
        ...FEES,
      }),
    2_000,
  );
  t.equal(response.status, 503);
  t.match(await response.json(), { error: 'settlement_pending' });
  await until('a subscription', async () => {
    clock.advance(MINUTE_MS);
    return (await recoverToken(url, ALICE.privateKey)).status === 200;
  });
  t.equal(await paid(), PRICE);
});

/** The same call, for more gas money. */
const forMore = (ours: { nonce: number; to: Hex; data: Hex }) =>
  chain.sendTransaction({ account: relayer, chain: null, ...ours, gas: 200_000n, ...FEES });

for (const [rpcThat, interfere] of [
  ['an RPC that shows what waits', undefined],
  [
    'an RPC that shows nothing that waits, so that the wait sees no replacement',
    (method: string, forward: () => Promise<unknown>) =>
      method === 'eth_getTransactionByHash'
        ? Promise.resolve({ jsonrpc: '2.0', id: 1, result: null })
        : forward(),
  ],
] as const) {
  t.test(
    `by the same call for more, with ${rpcThat}: paid, with a receipt that names the one that was mined`,
    async (t) => {
      rpc.interfere = interfere;
      t.teardown(() => {
        rpc.interfere = undefined;
      });
      const { mined, paid, response } = await payReplaced(t, forMore);
      t.equal(response.status, 200);
      const receipt = JSON.parse(
        Buffer.from(response.headers.get('x-payment-response') ?? '', 'base64').toString(),
      );
      t.equal(receipt.transaction, mined);
      t.equal(await paid(), PRICE);
    },
  );
}
