// `simrack subscribe` for a wallet that has a number, where nothing is known of it: it signs in, and pays once.
import { existsSync } from 'node:fs';
import t, { type Test } from 'tap';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { ALICE, BOB, PAY_TO, type Wallet } from '../../dev-stack/wallets.ts';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { paymentsBetween } from '../../fixtures/payments/payments-between.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const paidSoFar = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

/** A service with two numbers. */
async function shop(t: Test) {
  const { url, databaseUrl } = await rig.start(t);
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  const before = await paidSoFar();
  const paid = async (): Promise<bigint> => ((await paidSoFar()) - before) / PRICE;
  return { url, databaseUrl, paid };
}

/** The service under another name of this machine. */
const renamed = (url: string): string => url.replace('127.0.0.1', 'localhost');

t.test('another home directory: the payment is not made twice', async (t) => {
  const { url, paid } = await shop(t);
  const first = commandLine(t, url);
  const second = commandLine(t, url);
  const bought = await first.simrack('subscribe');
  t.match(bought.json(), { outcome: 'bought', number: slotAt(1).number });
  t.match(
    bought.stderr,
    /^signed a payment of [\d.]+ USDC to 0x[\da-fA-F]{40} on chain \d+$/m,
    'the price is named first',
  );
  const recovered = await second.simrack('subscribe');
  t.match(recovered.json(), { outcome: 'recovered', number: slotAt(1).number });
  t.match(recovered.stderr, /paid nothing; its older tokens are revoked/);
  t.match(await first.simrack('number'), { status: 1, stderr: /unauthorized/ }, 'so they are');
  t.match((await second.simrack('subscribe')).json(), { outcome: 'unchanged' });
  t.equal(await paid(), 1n);
});

t.test('after another wallet, in one home', async (t) => {
  const { url, paid } = await shop(t);
  const { simrack, environment } = commandLine(t, url);
  const as = (wallet: Wallet, ...args: string[]) => {
    const env = { ...environment, WALLET_KEY: wallet.privateKey };
    return commandLine(t, url, { env }).simrack(...args);
  };
  for (const outcome of ['bought', 'unchanged'])
    for (const [index, wallet] of [ALICE, BOB].entries())
      t.match((await as(wallet, 'subscribe')).json(), { outcome, number: slotAt(index + 1).number });
  t.match((await simrack('number')).json(), { number: slotAt(2).number }, 'the one that was used last');
  t.match((await as(ALICE, 'number')).json(), { number: slotAt(1).number }, 'its own');
  t.equal(await paid(), 2n);
});

t.test('under another name of the service, and with another file for the token', async (t) => {
  const { url, paid } = await shop(t);
  const { simrack, folder } = commandLine(t, url);
  const file = `${folder}/elsewhere/token.json`;
  t.match((await simrack('subscribe')).json(), { outcome: 'bought' });
  t.match((await simrack('subscribe', '--url', renamed(url))).json(), { outcome: 'unchanged' });
  t.match((await simrack('subscribe', '--token-file', file)).json(), { outcome: 'recovered' });
  t.match((await simrack('subscribe', '--token-file', file)).json(), { outcome: 'unchanged' });
  t.match((await simrack('subscribe')).json(), { outcome: 'recovered' });
  t.equal(await paid(), 1n);
});

t.test('a payment with an unknown outcome is found there, too', async (t) => {
  const { url: target, paid } = await shop(t);
  const { url, payments } = await paymentsBetween(
    t,
    target,
    async (attempt, _, pass) => (attempt === 1 ? undefined : pass()),
    { reaches: (attempt) => attempt > 1 },
  );
  const { simrack, start, folder } = commandLine(t, url);
  const file = `${folder}/elsewhere/token.json`;
  await start(['subscribe', '--token-file', file], (child) => {
    void until('the payment', () => payments.length === 1, 30_000).then(() => child.kill('SIGKILL'));
  });
  t.notOk(existsSync(file));
  t.match((await simrack('subscribe', '--url', renamed(url))).json(), { outcome: 'bought' });
  t.equal(payments[1], payments[0]);
  t.equal(await paid(), 1n);
});

t.test('a year that is over is paid for', async (t) => {
  const { url, databaseUrl, paid } = await shop(t);
  const { simrack } = commandLine(t, url);
  t.match((await simrack('subscribe')).json(), { outcome: 'bought' });
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  const yesterday = new Date(Date.now() - 86_400_000);
  await db
    .updateTable('subscriptions')
    .set({ created_at: new Date(0), expires_at: yesterday })
    .execute();
  await close();
  const renewed = await simrack('subscribe');
  t.match(renewed.json(), { outcome: 'renewed', number: slotAt(1).number }, renewed.stderr);
  t.equal(await paid(), 2n);
});
