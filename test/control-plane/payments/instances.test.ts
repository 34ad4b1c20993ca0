// Three instances with one relayer's key: payers at all of them at once, and every transaction has a nonce of its own.
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { PRICE } from '../../fixtures/paid-chain.ts';
import { signPaymentHeader } from '../../fixtures/payer.ts';
import { openDatabases } from '../../fixtures/postgres.ts';
import { createRig } from '../../fixtures/rig.ts';
import { startRpcProxy } from '../../fixtures/rpc-proxy.ts';
import { slotAt } from '../../fixtures/scripted-node.ts';
import { until } from '../../fixtures/until.ts';

const INSTANCES = 3;
const PAYERS = 24;
/** An RPC of a provider takes so long, and counts what it accepted only then. */
const RPC_MS = 20;

const rig = await createRig(openDatabases, { hasInstances: true });
const rpc = await startRpcProxy(rig.chain.rpcUrl);
t.teardown(() => rpc.stop());

t.test('no payer is asked to try again', { timeout: 120_000 }, async (t) => {
  const keys = Array.from({ length: PAYERS }, () => generatePrivateKey());
  for (const key of keys) await rig.chain.dollar.fund(privateKeyToAccount(key).address, PRICE);
  const { url, databaseUrl } = await rig.start(t, { rpcUrl: rpc.url });
  const urls = [url];
  while (urls.length < INSTANCES) urls.push((await rig.start(t, { rpcUrl: rpc.url, databaseUrl })).url);
  await rig.connect(t, url, { slots: keys.map((_, index) => slotAt(index + 1)) });
  await until('all numbers are on sale', async () => {
    const { available } = (await (await fetch(`${url}/availability`)).json()) as { available: number };
    return available === PAYERS;
  });
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
    payments.map(async ({ at, header }) => {
      const response = await fetch(`${at}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
      return { status: response.status, body: (await response.json()) as { number?: string } };
    }),
  );
  for (const { status, body } of answers) t.equal(status, 200, JSON.stringify(body));
  t.equal(new Set(answers.map(({ body }) => body.number)).size, PAYERS, 'each has a number of its own');
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  t.teardown(close);
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
