// More buyers than numbers, on a mediocre RPC: available numbers are sold at once, and no buyer pays for nothing.
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { PAY_TO } from '../../dev-stack/wallets.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { type RpcProxy, startRpcProxy } from '../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken, signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const NUMBERS = 4;
const BUYERS = 40;
const SEED = 4;
const MINUTE_MS = 60_000;

const rig = await createRig();
const rpc = await startRpcProxy(t, rig.chain.rpcUrl);

const paid = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

interface Answer {
  error?: string;
  number?: string;
}

/** All buyers at once; each comes again after a "not now" as the answer asks. No time passes for the service. */
async function race(t: Test, interfere: RpcProxy['interfere']) {
  rpc.interfere = undefined;
  const wallets = Array.from({ length: BUYERS }, (): Hex => generatePrivateKey());
  for (const key of wallets) await rig.chain.dollar.fund(privateKeyToAccount(key).address, PRICE);
  const clock = new ManualClock();
  const { url } = await rig.start(t, { clock, rpcUrl: rpc.url, heartbeatMs: 1_000 * MINUTE_MS });
  await rig.connect(t, url, { slots: Array.from({ length: NUMBERS }, (_, index) => slotAt(index + 1)) });
  await until('all are on sale', async () => (await availableAt(url)) === NUMBERS);
  const headers = await Promise.all(wallets.map((key) => signPaymentHeader(url, key)));
  const before = await paid();
  const settled = (key: Hex) =>
    until('a pending payment is settled', async () => {
      clock.advance(MINUTE_MS);
      const response = await recoverToken(url, key);
      return response.status === 200 ? { response, body: (await response.json()) as Answer } : undefined;
    });
  rpc.interfere = interfere;
  const asked = await Promise.all(
    headers.map(async (header, index) => {
      for (;;) {
        const response = await fetch(`${url}/subscribe`, {
          method: 'POST',
          headers: { 'X-PAYMENT': header },
        });
        const body = (await response.json()) as Answer;
        // A busy machine checks fewer signatures at once.
        if (body.error !== 'settlement_unavailable' && body.error !== 'overloaded')
          return { key: wallets[index] as Hex, response, body };
      }
    }),
  );
  // The RPC lost every answer to a transaction: it is sent once more, and the buyer signs in.
  rpc.interfere = undefined;
  const answers = await Promise.all(
    asked.map(async (answer) =>
      answer.body.error === 'settlement_pending' ? { ...answer, ...(await settled(answer.key)) } : answer,
    ),
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
