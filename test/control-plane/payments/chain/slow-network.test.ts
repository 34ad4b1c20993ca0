// A network whose RPC is slow, and strangers with empty wallets who send it payments: the payers of another network do not wait for them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ALICE, PAY_TO } from '../../../dev-stack/wallets.ts';
import { signTransfer } from '../../../fixtures/chain/authorizations.ts';
import { PRICE, startPaidChain } from '../../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { linkNode, slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { availableAt, present } from '../../../fixtures/payments/presented.ts';
import { startControlPlane } from '../../../fixtures/service/control-plane.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

/** More than are checked at a time. */
const STRANGERS = 8;

const [base, sepolia, postgres] = await Promise.all([
  startPaidChain(8453),
  startPaidChain(84532),
  openDatabases(),
]);
const slow = await startRpcProxy(t, base.rpcUrl);
t.teardown(() => Promise.all([base.stop(), sepolia.stop(), postgres.stop()]));

t.test('payments on a network that is slow delay no payer of another', async (t) => {
  const folder = temporaryFolder(t);
  const paymentsFile = join(folder, 'payments.yaml');
  writeFileSync(
    paymentsFile,
    `networks:
  - { chain_id: 8453, rpc_url: ${slow.url}, assets: [{ pay_to: "${PAY_TO.address}", price_atomic: ${PRICE} }] }
  - { chain_id: 84532, rpc_url: ${sepolia.rpcUrl}, assets: [{ pay_to: "${PAY_TO.address}", price_atomic: ${PRICE} }] }
`,
  );
  const databaseUrl = await postgres.createMigrated();
  const own = { databaseUrl, paymentsFile, rpcUrl: undefined, payTo: undefined };
  const service = await startControlPlane(sepolia, own);
  t.teardown(() => service.stop());
  await linkNode(t, service.url, { slots: [slotAt(1)] });
  await until('a number on sale', async () => (await availableAt(service.url)) === 1);

  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  slow.interfere = (method, forward) => (method === 'eth_getCode' ? released.then(forward) : forward());
  const strangers = await Promise.all(
    Array.from({ length: STRANGERS }, () => signTransfer(privateKeyToAccount(generatePrivateKey()), base)),
  );
  const refused = strangers.map(({ header }) => present(service.url, header));
  await until('they are being checked', () => slow.asked.filter((one) => one === 'eth_getCode').length >= 4);
  const { header } = await signTransfer(privateKeyToAccount(ALICE.privateKey), sepolia);
  const paid = await present(service.url, header);
  release();
  t.equal(paid.status, 200);
  for (const { status } of await Promise.all(refused)) t.equal(status, 402);
});
