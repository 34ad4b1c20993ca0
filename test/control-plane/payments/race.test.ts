// More buyers than numbers, on a mediocre RPC: available numbers are sold at once, and no buyer pays for nothing.
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { PAY_TO } from '../../dev-stack/wallets.ts';
import { ManualClock } from '../../fixtures/manual-clock.ts';
import { PRICE } from '../../fixtures/paid-chain.ts';
import { signPaymentHeader } from '../../fixtures/payer.ts';
import { createRig } from '../../fixtures/rig.ts';
import { type RpcProxy, startRpcProxy } from '../../fixtures/rpc-proxy.ts';
import { slotAt } from '../../fixtures/scripted-node.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';
import { until } from '../../fixtures/until.ts';

const NUMBERS = 4;
const BUYERS = 40;
const SEED = 4;
const MINUTE_MS = 60_000;

const rig = await createRig();
const rpc = await startRpcProxy(rig.chain.rpcUrl);
t.teardown(() => rpc.stop());

const paid = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

/** All buyers at once; each comes again after a "not now" as the answer asks. No time passes for the service. */
async function race(t: Test, interfere: RpcProxy['interfere']) {
  rpc.interfere = undefined;
  const wallets = Array.from({ length: BUYERS }, (): Hex => generatePrivateKey());
  for (const key of wallets) await rig.chain.dollar.fund(privateKeyToAccount(key).address, PRICE);
  const clock = new ManualClock();
  const { url } = await rig.start(t, { clock, rpcUrl: rpc.url, heartbeatMs: 1_000 * MINUTE_MS });
  await rig.connect(t, url, { slots: Array.from({ length: NUMBERS }, (_, index) => slotAt(index + 1)) });
  await until('all are on sale', async () => {
    const { available } = (await (await fetch(`${url}/availability`)).json()) as { available: number };
    return available === NUMBERS;
  });
  const headers = await Promise.all(wallets.map((key) => signPaymentHeader(url, key)));
  const before = await paid();
  rpc.interfere = interfere;
  const answers = await Promise.all(
    headers.map(async (header) => {
      for (;;) {
        const response = await fetch(`${url}/subscribe`, {
          method: 'POST',
          headers: { 'X-PAYMENT': header },
        });
        const body = (await response.json()) as { error?: string; number?: string };
        // A busy machine checks fewer signatures at once.
        if (body.error !== 'settlement_unavailable' && body.error !== 'overloaded') return { response, body };
      }
    }),
  );
  const sold = answers.filter(({ response }) => response.status === 200);
  t.equal(new Set(sold.map(({ body }) => body.number)).size, NUMBERS, 'each number is sold, once');
  for (const { response, body } of answers.filter((answer) => !sold.includes(answer))) {
    t.match([response.status, body], [503, { error: 'pool_exhausted' }]);
    t.match(response.headers.get('retry-after'), /^\d+$/);
  }
  t.equal((await paid()) - before, BigInt(NUMBERS) * PRICE, 'and no other wallet has paid');
}

t.test('an RPC that drops 30 % of all calls', { timeout: 120_000 }, async (t) => {
  const random = randomFrom(SEED);
  await race(t, (_, forward) => (random(10) < 3 ? Promise.reject(new Error('lost')) : forward()));
});

t.test('an RPC whose nodes do not know of each other’s transactions yet', { timeout: 120_000 }, async (t) => {
  let last: unknown;
  await race(t, async (method, forward) => {
    const answer = await forward();
    if (method !== 'eth_getTransactionCount') return answer;
    // Each answer is that of the time before.
    const { result } = (last ?? answer) as { result: string };
    last = answer;
    return { ...(answer as object), result };
  });
});
