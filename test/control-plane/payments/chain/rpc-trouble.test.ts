// An RPC that does not answer, at every call of a payment: the money moves once and buys a year, or does not move. A run plays some of the
// calls.
import t, { type Test } from 'tap';
import { ALICE, BOB, PAY_TO, type Wallet } from '../../../dev-stack/wallets.ts';
import { PRICE } from '../../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { buyNumber, recoverToken, signPaymentHeader } from '../../../fixtures/payments/payer.ts';
import { availableAt, present } from '../../../fixtures/payments/presented.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { someOf } from '../../../fixtures/sweep.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
const MINUTE_MS = 60_000;
/** For an RPC that hangs. Others answer at once, but for a busy machine. */
const HANG_MS = 1_000;
/** Cases of an ordinary run, of about thirty. */
const SHORT_RUN = 6;

type Interference = typeof rpc.interfere;

const never = (): Promise<never> => new Promise(() => undefined);

/** The troubles of one call. */
const TROUBLES: Record<string, NonNullable<Interference>> = {
  'is lost on its way': () => Promise.reject(new Error('lost')),
  'arrives, and its answer is lost': async (_, forward) => {
    await forward();
    throw new Error('lost');
  },
  'is answered with an error': async () => ({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32_000, message: 'header not found' },
  }),
};

/** The service retries a broken connection three times, and then repeats the whole call once. An answer counts as one try. */
const triesOf = (trouble: string): number =>
  trouble.endsWith('lost') || trouble.startsWith('is lost') ? 8 : 2;

/** A service on the troubled RPC with two numbers, one of them Alice's. */
async function setUp(t: Test, options: Parameters<typeof rig.start>[1] = {}) {
  rpc.interfere = undefined;
  const clock = new ManualClock();
  const { url } = await rig.start(t, {
    clock,
    rpcUrl: rpc.url,
    settlementWaitMs: 400,
    heartbeatMs: 1_000 * MINUTE_MS,
    ...options,
  });
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  await buyNumber(url, ALICE.privateKey);

  const yearOf = async ({ privateKey }: Wallet): Promise<number> => {
    const { expires_at } = (await (await recoverToken(url, privateKey)).json()) as { expires_at: string };
    return new Date(expires_at).getUTCFullYear();
  };
  /** Pays while something interferes, and presents the same again until the payment has its end. */
  const payThrough = async (interfere: NonNullable<Interference>) => {
    const header = await signPaymentHeader(url, ALICE.privateKey);
    const before = { paid: await paid(), year: await yearOf(ALICE) };
    rpc.asked.length = 0;
    rpc.interfere = interfere;
    const answer = await present(url, header);
    const calls = [...rpc.asked];
    const movedAtOnce = (await paid()) - before.paid;
    rpc.interfere = undefined;
    const again = await until('an end', async () => {
      const retried = await present(url, header);
      if (retried.body['error'] !== 'settlement_pending') return retried;
      clock.advance(MINUTE_MS);
      return undefined;
    });
    const moved = (await paid()) - before.paid;
    return { answer, again, calls, movedAtOnce, moved, years: (await yearOf(ALICE)) - before.year };
  };
  const available = () => availableAt(url);
  return { available, payThrough, url };
}

const paid = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

let calls: readonly string[] = [];
await t.test('a payment without trouble', async (t) => {
  const { payThrough } = await setUp(t);
  const whole = await payThrough((_, forward) => forward());
  t.match(whole, { answer: { status: 200 }, moved: PRICE, years: 1, again: { status: 409 } });
  calls = whole.calls;
  t.ok(calls.includes('eth_sendRawTransaction'), calls.join());
});

const cases = Object.entries(TROUBLES).flatMap(([trouble, interfere]) =>
  calls.map((method, position) => ({ trouble, interfere, method, position })),
);
for (const { trouble, interfere, method, position } of someOf(t, cases, SHORT_RUN))
  t.test(`call ${position + 1}, ${method}, ${trouble}`, async (t) => {
    const { payThrough } = await setUp(t);
    let made = 0;
    const { answer, again, movedAtOnce, moved, years } = await payThrough((name, forward, params) => {
      const isVictim = made >= position && made < position + triesOf(trouble);
      made += 1;
      return isVictim ? interfere(name, forward, params) : forward();
    });
    const isUnavailable = answer.body['error'] === 'settlement_unavailable';
    t.ok(answer.status === 200 || isUnavailable || answer.body['error'] === 'settlement_pending');
    if (isUnavailable) t.equal(movedAtOnce, 0n, 'nothing was charged');
    t.equal(again.status, isUnavailable ? 200 : 409);
    t.equal(moved, PRICE, 'paid once');
    t.equal(years, 1, 'for one year');
  });

t.test('an RPC that hangs from a call on: no request waits for it for long', async (t) => {
  const { payThrough } = await setUp(t, { rpcTimeoutMs: HANG_MS });
  for (const first of ['eth_estimateGas', 'eth_getTransactionCount', 'eth_sendRawTransaction']) {
    let hangs = false;
    const { answer, moved, years } = await payThrough((method, forward) => {
      hangs ||= method === first;
      return hangs ? never() : forward();
    });
    const error = first === 'eth_sendRawTransaction' ? 'settlement_pending' : 'settlement_unavailable';
    t.match(answer, { status: 503, body: { error } }, first);
    t.same([moved, years], [PRICE, 1], first);
  }
});

t.test('a new wallet whose payment cannot be read or signed keeps no number', async (t) => {
  const { available, url } = await setUp(t);
  for (const method of ['eth_estimateGas', 'eth_getTransactionCount']) {
    const header = await signPaymentHeader(url, BOB.privateKey);
    rpc.interfere = (name, forward) => (name === method ? Promise.reject(new Error('lost')) : forward());
    t.match(await present(url, header), { status: 503, body: { error: 'settlement_unavailable' } });
    t.equal(await available(), 1);
    rpc.interfere = undefined;
  }
});
