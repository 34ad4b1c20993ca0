// A payer names its payment by the package of x402, and presents it again: the answer that was lost comes once more, for the payer alone.
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Config } from '#control-plane/config/config.ts';
import type { Clock } from '#shared/clock.ts';
import { MINTER, PAY_TO } from '../../dev-stack/wallets.ts';
import { signTransfer } from '../../fixtures/chain/authorizations.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { edited, withPaymentId as named, signV2 } from '../../fixtures/payments/payment-headers.ts';
import { answerOf } from '../../fixtures/payments/presented.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const ID = 'pay_7d5d747be160e280504c099d984bcfe0';
const YEARS_MS = 3 * 366 * 86_400_000;

const rig = await createRig();
const { control: chain, dollar } = rig.chain;

async function setup(t: Test, options: Partial<Config> & { clock?: Clock } = {}) {
  const { url, databaseUrl } = await rig.start(t, options);
  const db = await openTestDatabase(t, databaseUrl);
  return { db, ...(await connected(t, url)) };
}

async function setupEmbedded(t: Test) {
  const service = await startControlPlane(rig.chain, { dataDir: temporaryFolder(t) });
  t.teardown(() => service.stop());
  return connected(t, service.url);
}

async function connected(t: Test, url: string) {
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2), slotAt(3)] });
  const before = await dollar.balanceOf(PAY_TO.address);
  return {
    url,
    paid: async () => (await dollar.balanceOf(PAY_TO.address)) - before,
    present: async (header: string) =>
      answerOf(await fetch(`${url}/subscribe`, { method: 'POST', headers: { 'PAYMENT-SIGNATURE': header } })),
    works: async (token: unknown) =>
      (await fetch(`${url}/number`, { headers: { Authorization: `Bearer ${String(token)}` } })).status ===
      200,
  };
}

async function funded(years = 1n): Promise<Hex> {
  const key = generatePrivateKey();
  await dollar.fund(privateKeyToAccount(key).address, years * PRICE);
  return key;
}

for (const [database, start] of [
  ['Postgres', setup],
  ['PGlite', setupEmbedded],
] as const) {
  t.test(`the same payment with the same name, on ${database}: the same answer, once paid`, async (t) => {
    const { url, paid, present, works } = await start(t);
    const header = named(await signV2(url, await funded()), ID);
    const first = await present(header);
    t.match(first, { status: 200, body: { renewed: false, token: /^simrack_/ } });
    const again = await Promise.all(Array.from({ length: 10 }, () => present(header)));
    for (const answer of again) t.same(answer, first);
    t.equal(await works(first.body['token']), true);
    t.equal(await paid(), PRICE);
  });

  t.test(`a wrong name, on ${database}: gets nothing, and ends the right one`, async (t) => {
    const { url, present, works } = await start(t);
    const key = await funded();
    const signed = await signV2(url, key);
    const { body } = await present(named(signed, ID));
    const used = { status: 409, body: { error: 'payment_already_used', token: undefined } };
    t.match(await present(signed), used, 'without a name');
    t.match(await present(named(signed, ID)), { status: 200 }, 'which costs no guess');
    t.match(await present(named(signed, `${ID}0`)), used, 'another name');
    t.match(await present(named(signed, ID)), used, 'the right one after it: there is one guess');
    t.equal(await works(body['token']), true, 'the token stays');
    t.equal((await recoverToken(url, key)).status, 200);
  });
}

t.test('several at once: each gets the one token, at once or when it asks again', async (t) => {
  const { url, paid, present } = await setup(t);
  const header = named(await signV2(url, await funded()), ID);
  const answers = await Promise.all(Array.from({ length: 8 }, () => present(header)));
  const { body } = await present(header);
  for (const answer of answers)
    if (answer.status === 200) t.equal(answer.body['token'], body['token']);
    else t.match(answer, { status: 503, body: { error: 'settlement_pending' } });
  t.equal(answers.filter(({ status }) => status === 200).length > 0, true);
  t.equal(await paid(), PRICE);
});

t.test('a sign-in revokes the token for good', async (t) => {
  const { url, present, works } = await setup(t);
  const key = await funded();
  const header = named(await signV2(url, key), ID);
  const { body } = await present(header);
  t.equal((await recoverToken(url, key)).status, 200);
  t.match(await present(header), { status: 409, body: { error: 'payment_already_used' } });
  t.equal(await works(body['token']), false);
});

t.test('the process died before it stored the token: the next one does', async (t) => {
  const { url, db, present, works } = await setup(t);
  const key = await funded();
  const header = named(await signV2(url, key), ID);
  const { body } = await present(header);
  await db.deleteFrom('tokens').execute();
  const again = await present(header);
  t.match(again, { status: 200, body: { token: body['token'] } });
  t.equal(await works(again.body['token']), true);
  // Money that a third party moved proves nothing about who presents it.
  await db.deleteFrom('tokens').execute();
  await db
    .updateTable('payments')
    .set({ transaction_hash: `0x${'0'.repeat(64)}` })
    .execute();
  t.match(await present(header), { status: 409, body: { error: 'payment_already_used' } });
});

t.test('one name for two payments of a wallet: the second is refused, and costs nothing', async (t) => {
  const { url, paid, present } = await setup(t);
  const key = await funded(2n);
  const [first, second] = [await signV2(url, key), await signV2(url, key)];
  t.match(await present(named(first, ID)), { status: 200 });
  t.match(await present(named(second, ID)), { status: 409, body: { error: 'payment_identifier_reused' } });
  t.equal(await paid(), PRICE);
  t.match(await present(named(second, `${ID}-2`)), { status: 200, body: { renewed: true } });
  t.match(await present(named(second, `${ID}-2`)), { status: 200, body: { renewed: true } });
  t.match(await present(named(first, ID)), { status: 200, body: { renewed: false } });
  t.match(await present(named(await signV2(url, await funded()), ID)), { status: 200 }, 'of another wallet');
});

t.test('a name that was refused with its payment is free', async (t) => {
  const { url, present } = await setup(t);
  const key = generatePrivateKey();
  const poor = await signV2(url, key);
  t.match(await present(named(poor, ID)), { status: 402, body: { error: 'insufficient_funds' } });
  await dollar.fund(privateKeyToAccount(key).address, PRICE);
  t.match(await present(named(await signV2(url, key), ID)), { status: 200 });
});

t.test('malformed names are refused before anything is paid', async (t) => {
  const { url, paid, present } = await setup(t);
  const signed = await signV2(url, await funded());
  for (const id of ['a'.repeat(15), 'a'.repeat(129), 'with a space in it', 17, null]) {
    const header = edited(signed, ({ extensions }) =>
      Object.assign(extensions['payment-identifier']?.info ?? {}, { id }),
    );
    t.match(
      await present(header),
      { status: 400, body: { error: 'invalid_request', field: 'extensions.payment-identifier.info.id' } },
      String(id),
    );
  }
  t.equal(await paid(), 0n);
  const odd = edited(signed, (envelope) =>
    Object.assign(envelope, { extensions: { 'payment-identifier': 7, other: null } }),
  );
  t.match(await present(odd), { status: 200 }, 'other extensions are ignored');
});

t.test('a third party moved the money first: its name gets no token either', async (t) => {
  const { url, present } = await setup(t);
  const key = await funded();
  const { header: v1, data } = await signTransfer(privateKeyToAccount(key), rig.chain);
  const { payload } = JSON.parse(Buffer.from(v1, 'base64').toString()) as { payload: object };
  const header = edited(named(await signV2(url, key), ID), (envelope) =>
    Object.assign(envelope, { payload }),
  );
  const account = privateKeyToAccount(MINTER.privateKey);
  const hash = await chain.sendTransaction({ account, chain: null, to: dollar.asset, data });
  await chain.waitForTransactionReceipt({ hash });
  const used = { status: 409, body: { error: 'payment_already_used' } };
  await until('the year is added', async () => {
    const { status, body } = await present(header);
    return status === used.status && body['error'] === used.body.error;
  });
  t.match(await present(header), used);
  t.equal((await recoverToken(url, key)).status, 200);
});

t.test('after the end of the subscription there is no token', async (t) => {
  const clock = new ManualClock();
  const { url, present } = await setup(t, { clock, heartbeatMs: 10 * YEARS_MS });
  const header = named(await signV2(url, await funded()), ID);
  t.match(await present(header), { status: 200 });
  clock.advance(YEARS_MS);
  t.match(await present(header), { status: 409, body: { error: 'payment_already_used' } });
});
