// Three instances with one relayer's key: payers at all of them at once, and every transaction has a nonce of its own.
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { systemClock } from '#shared/clock.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../fixtures/chain/rpc-proxy.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { fundedRelayer, payerHeader, present } from '../../fixtures/payments/relayer-rotation.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const INSTANCES = 3;
const PAYERS = 24;
/** An RPC of a provider takes this long, and counts what it accepted only then. */
const RPC_MS = 20;
const AHEAD_MS = 60_000;

const rig = await createRig({ hasInstances: true });
const rpc = await startRpcProxy(t, rig.chain.rpcUrl);

t.test('no payer is asked to try again', { timeout: 120_000 }, async (t) => {
  const keys = Array.from({ length: PAYERS }, () => generatePrivateKey());
  for (const key of keys) await rig.chain.dollar.fund(privateKeyToAccount(key).address, PRICE);
  const { url, databaseUrl } = await rig.start(t, { rpcUrl: rpc.url });
  const urls = [url];
  while (urls.length < INSTANCES) urls.push((await rig.start(t, { rpcUrl: rpc.url, databaseUrl })).url);
  await rig.connect(t, url, { slots: keys.map((_, index) => slotAt(index + 1)) });
  await until('all numbers are on sale', async () => (await availableAt(url)) === PAYERS);
  const payments = await Promise.all(
    keys.map(async (key, index) => {
      const at = String(urls[index % INSTANCES]);
      return { at, header: await signPaymentHeader(at, key) };
    }),
  );
  rpc.interfere = async (method, forward) => {
    if (method === 'eth_sendRawTransaction') await new Promise((resolve) => setTimeout(resolve, RPC_MS));
    return forward();
  };
  const answers = await Promise.all(
    payments.map(({ at, header }) =>
      request<{ number?: string }>(`${at}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } }),
    ),
  );
  for (const { status, body } of answers) t.equal(status, 200, JSON.stringify(body));
  t.equal(new Set(answers.map(({ body }) => body.number)).size, PAYERS, 'each has a number of its own');
  const db = await openTestDatabase(t, databaseUrl);
  const rows = await db
    .selectFrom('payments')
    .select('transaction_nonce')
    .orderBy('transaction_nonce')
    .execute();
  const nonces = rows.map(({ transaction_nonce: nonce }) => Number(nonce));
  const [first = 0] = nonces;
  t.same(
    nonces,
    keys.map((_, index) => first + index),
    'no nonce twice, and none left out',
  );
});

t.test('a relayer whose first transaction could not be signed begins with nonce 0', async (t) => {
  const { address, key } = await fundedRelayer(rig);
  await rig.chain.control.setBalance({ address, value: 1n });
  const { url } = await rig.start(t, { rpcUrl: rpc.url, relayerKey: key });
  await rig.connect(t, url, { slots: [slotAt(1)] });
  await until('a number is on sale', async () => (await availableAt(url)) === 1);
  const { header } = await payerHeader(rig, url);
  t.equal(await present(url, header), 503);
  await rig.chain.control.setBalance({ address, value: 10n ** 18n });
  t.equal(await present(url, header), 200);
  t.equal(await rig.chain.control.getTransactionCount({ address }), 1);
});

t.test(
  'an RPC counts late, and the clock of one instance is a minute ahead',
  { timeout: 120_000 },
  async (t) => {
    const relayer = await fundedRelayer(rig);
    const patient = { heartbeatMs: 1_000_000, settlementWaitMs: 3_000 };
    const parts = { ...patient, rpcUrl: rpc.url, relayerKey: relayer.key };
    const ahead = { ...systemClock, now: () => Date.now() + AHEAD_MS };
    const { url, databaseUrl } = await rig.start(t, parts);
    const other = await rig.start(t, { ...parts, databaseUrl, clock: ahead });
    await rig.connect(t, url, { slots: [1, 2, 3, 4].map((index) => slotAt(index)) });
    let counted = 0;
    // Without the transaction that it accepted last.
    rpc.interfere = async (method, forward, [, blockTag]) => {
      const answer = (await forward()) as { result: string };
      if (method !== 'eth_getTransactionCount' || blockTag !== 'pending') return answer;
      counted += 1;
      return { ...answer, result: `0x${Math.max(0, Number(answer.result) - 1).toString(16)}` };
    };
    t.teardown(() => {
      rpc.interfere = undefined;
    });
    for (const at of [url, other.url, url, other.url]) {
      const key = generatePrivateKey();
      await rig.chain.dollar.fund(privateKeyToAccount(key).address, PRICE);
      const header = await signPaymentHeader(at, key);
      const response = await fetch(`${at}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
      t.equal(response.status, 200, await response.text());
    }
    t.ok(counted >= 4, 'the late count was used');
    t.equal(await rig.chain.control.getTransactionCount({ address: relayer.address }), 4);
  },
);
