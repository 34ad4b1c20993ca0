// A reorganisation takes a mined transfer back: sent again while it can be; marked, alerted and ended by an operator where it cannot.
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { ALICE, BOB, CAROL, MINTER, PAY_TO, type Wallet } from '../../../dev-stack/wallets.ts';
import { signCancellation, signTransfer } from '../../../fixtures/chain/authorizations.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../../fixtures/chain/paid-chain.ts';
import { chainOfTest } from '../../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { recoverToken } from '../../../fixtures/payments/payer.ts';
import { present } from '../../../fixtures/payments/presented.ts';
import { runCommand } from '../../../fixtures/run-command.ts';
import { MINUTE_MS, roundIsOver } from '../../../fixtures/service/housekeeping.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { openTestOperator } from '../../../fixtures/service/test-operator.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const chain = rig.chain.control;

/** The newest block becomes another one, without its transactions. */
const reorganise = () => chain.request({ method: 'anvil_reorg', params: [1, []] } as never);

async function setUp(t: Test, payer: Wallet) {
  const clock = new ManualClock();
  const line = await chainOfTest(t, rig.chain);
  const { url, databaseUrl } = await rig.start(t, {
    clock,
    rpcUrl: line.url,
    heartbeatMs: 1_000 * MINUTE_MS,
  });
  await rig.connect(t, url, { slots: [slotAt(1)] });
  const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
  const validBefore = Math.floor(clock.now() / 1000) + 300;
  const signer = privateKeyToAccount(payer.privateKey);
  const signed = await signTransfer(signer, rig.chain, { validBefore });
  t.equal((await present(url, signed.header)).status, 200);
  const env = { DATABASE_URL: databaseUrl, RPC_URL: rig.chain.rpcUrl, CHAIN_ID: String(rig.chain.chainId) };
  return {
    url,
    databaseUrl,
    clock,
    line,
    signed,
    signer,
    paid: async () => (await rig.chain.dollar.balanceOf(PAY_TO.address)) - before,
    minute: async () => {
      clock.advance(MINUTE_MS);
      await roundIsOver(clock);
    },
    control: (...args: string[]) => runCommand(args, env),
  };
}

type Rigged = Awaited<ReturnType<typeof setUp>>;

const stateOf = async ({
  control,
}: Rigged): Promise<{ id: string; state: string; subscription_id: string }> => {
  const { stdout } = await control('payment', 'list', '--json');
  const [payment] = (
    JSON.parse(stdout) as { payments: { id: string; state: string; subscription_id: string }[] }
  ).payments;
  if (payment === undefined) throw new Error('no payment');
  return payment;
};

t.test('a transfer that vanished is sent again, and pays once', async (t) => {
  const rigged = await setUp(t, ALICE);
  t.equal(await rigged.paid(), PRICE);
  await reorganise();
  t.equal(await rigged.paid(), 0n, 'the chain has forgotten it');
  await until('it is paid again', async () => {
    await rigged.minute();
    return (await rigged.paid()) === PRICE;
  });
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  await rigged.minute();
  t.match(await stateOf(rigged), { state: 'applied' });
  rigged.line.asked.length = 0;
  await rigged.minute();
  t.notOk(
    rigged.line.asked.includes('eth_getTransactionReceipt'),
    'once it is final it is not checked any more',
  );
});

t.test(
  'one that stayed away is marked and alerted; an operator ends the year that nothing paid',
  async (t) => {
    const rigged = await setUp(t, BOB);
    const { control, line, url } = rigged;
    line.interfere = async (method, forward) => {
      if (method === 'eth_sendRawTransaction') throw new Error('lost');
      return forward();
    };
    await reorganise();
    await rigged.minute();
    t.match(await stateOf(rigged), { state: 'applied' }, 'while it can still be mined nothing is said');
    await chain.increaseTime({ seconds: 400 });
    await chain.mine({ blocks: 1 });
    await chain.mine({ blocks: SAFE_LAG_BLOCKS });
    await until('it is marked', async () => {
      await rigged.minute();
      return (await stateOf(rigged)).state === 'taken_back';
    });
    const { id, subscription_id: subscription } = await stateOf(rigged);
    await until('an alert is raised', async () => {
      rigged.clock.advance(10_000);
      const { stdout } = await control('alert', 'list', '--json');
      return stdout.includes(id) && stdout.includes('payment_stuck');
    });
    t.match((await control('payment', 'list', '--stuck')).stdout, id);
    const { token } = (await (await recoverToken(url, BOB.privateKey)).json()) as { token: string };
    const number = () => fetch(`${url}/number`, { headers: { Authorization: `Bearer ${token}` } });
    t.equal((await number()).status, 200, 'no machine notifies the subscriber');
    const end = ['subscription', 'end', subscription, '--reason', 'the chain took its money back'];
    const shown = await control(...end);
    t.match(shown, { status: 2, stderr: /nothing is refunded\nerror: Nothing was done/ });
    t.match(await control(...end, '--yes'), shown, 'a yes names the end that the operator saw');
    const ended = await control(...end, ...flagsOf(shown));
    t.match(ended, { status: 0, stderr: '', stdout: /has ended/ });
    await until('the token is refused', async () => (await number()).status === 401);
    t.equal((await recoverToken(url, BOB.privateKey)).status, 402, 'and may pay again');
    t.notMatch((await control('payment', 'list', '--stuck')).stdout, id);
    t.match((await control('audit', 'list')).stdout, /end subscription/);
  },
);

/** As the command prints them. */
const flagsOf = ({ stderr }: { stderr: string }): string[] =>
  (/--yes --ends-at \S+/.exec(stderr)?.[0] ?? '').split(' ');

t.test(
  'of a renewal that stayed away an operator takes off its year, and not the one that was paid',
  async (t) => {
    const rigged = await setUp(t, BOB);
    const { clock, control, line, signer, url } = rigged;
    await chain.mine({ blocks: SAFE_LAG_BLOCKS });
    await rigged.minute();
    const first = await stateOf(rigged);
    const ends = async () =>
      ((await (await recoverToken(url, BOB.privateKey)).json()) as { expires_at: string }).expires_at;
    const end = await ends();
    const validBefore = Math.floor(clock.now() / 1000) + 300;
    const renewal = await signTransfer(signer, rig.chain, { validBefore });
    t.match(await present(url, renewal.header), { status: 200, body: { renewed: true } });
    line.interfere = async (method, forward) => {
      if (method === 'eth_sendRawTransaction') throw new Error('lost');
      return forward();
    };
    await reorganise();
    await chain.increaseTime({ seconds: 600 });
    await chain.mine({ blocks: 1 + SAFE_LAG_BLOCKS });
    await until('it is marked', async () => {
      await rigged.minute();
      return (await stateOf(rigged)).state === 'taken_back';
    });
    const { id, subscription_id: subscription } = await stateOf(rigged);
    t.not(id, first.id);
    const reason = 'its renewal was taken back';
    const command = ['subscription', 'end', subscription, '--reason', reason];
    const shown = await control(...command);
    t.match(shown, {
      status: 2,
      stderr: new RegExp(`loses the year that the chain took back \\(${id}\\), and nothing else`),
    });
    const { databaseUrl } = rigged;
    const operator = await openTestOperator(t, { databaseUrl, url });
    const { expires_at } = await operator.call('subscription', { id: subscription });
    t.match(await control(...command, ...flagsOf(shown)), {
      status: 0,
      stdout: new RegExp(`ends at ${end.slice(0, 10)}`),
    });
    t.match(
      await control(...command, ...flagsOf(shown)),
      { status: 2, stderr: /^error: Nothing was done: sub_\w+ ends at / },
      'a script that runs again does not end the year that was paid',
    );
    await t.rejects(
      operator.call('endSubscription', { id: subscription, expires_at, reason }),
      /ends at another time now/,
      'as it was seen before: a second operator, or a repetition',
    );
    t.equal(await ends(), end, 'the year that was paid is left');
    t.match(await control(...command), { status: 2, stderr: /ends now, in place of/ });
    t.match(await stateOf(rigged), { id, state: 'void' });
    t.notMatch((await control('payment', 'list', '--stuck')).stdout, id);
  },
);

t.test('one that was cancelled after it vanished is marked, too', async (t) => {
  const rigged = await setUp(t, CAROL);
  const { signed, signer } = rigged;
  await reorganise();
  const data = await signCancellation(signer, rig.chain, signed.nonce);
  const account = privateKeyToAccount(MINTER.privateKey);
  const hash = await chain.sendTransaction({ account, chain: null, to: rig.chain.dollar.asset, data });
  await chain.waitForTransactionReceipt({ hash });
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  await until('it is marked', async () => {
    await rigged.minute();
    return (await stateOf(rigged)).state === 'taken_back';
  });
  t.equal(await rigged.paid(), 0n);
});
