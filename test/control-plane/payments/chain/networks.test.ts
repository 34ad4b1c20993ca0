// Several networks and assets at once: each is offered, each is paid, and a token that is not what it should be stops the start.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import { DOLLAR, plantTestDollar } from '../../../dev-stack/test-dollar.ts';
import { ALICE, BOB, CAROL, PAY_TO } from '../../../dev-stack/wallets.ts';
import { signTransfer } from '../../../fixtures/chain/authorizations.ts';
import { PRICE, startPaidChain } from '../../../fixtures/chain/paid-chain.ts';
import { startSmartAccounts } from '../../../fixtures/chain/smart-accounts.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { linkNode, slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { buyNumber, signIn } from '../../../fixtures/payments/payer.ts';
import { availableAt, present } from '../../../fixtures/payments/presented.ts';
import { startControlPlane } from '../../../fixtures/service/control-plane.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

const OTHER = { address: '0x00000000000000000000000000000000000d0115', name: 'Other Dollar' } as const;
const OTHER_PRICE = 1_750n * DOLLAR;

const [base, sepolia, postgres] = await Promise.all([
  startPaidChain(8453),
  startPaidChain(84532),
  openDatabases(),
]);
const other = await plantTestDollar(sepolia.rpcUrl, 84532, OTHER);
await other.fund(CAROL.address, OTHER_PRICE);
t.teardown(() => Promise.all([base.stop(), sepolia.stop(), postgres.stop()]));

const FILE = `networks:
  - chain_id: 8453
    rpc_url: ${base.rpcUrl}
    assets: [{ pay_to: "${PAY_TO.address}", price_atomic: ${PRICE} }]
  - chain_id: 84532
    rpc_url: ${sepolia.rpcUrl}
    assets:
      - { pay_to: "${PAY_TO.address}", price_atomic: ${PRICE} }
      - { asset: "${OTHER.address}", name: ${OTHER.name}, pay_to: "${PAY_TO.address}", price_atomic: ${OTHER_PRICE} }
`;

async function start(t: Test, file: string) {
  const folder = temporaryFolder(t);
  const paymentsFile = join(folder, 'payments.yaml');
  writeFileSync(paymentsFile, file);
  const databaseUrl = await postgres.createMigrated();
  const service = await startControlPlane(sepolia, {
    databaseUrl,
    paymentsFile,
    rpcUrl: undefined,
    payTo: undefined,
  });
  t.teardown(() => service.stop());
  return service;
}

t.test('all are offered, and each is paid', async (t) => {
  const { url } = await start(t, FILE);
  const slots = [1, 2, 3].map((index) => slotAt(index));
  await linkNode(t, url, { slots });
  await until('numbers on sale', async () => (await availableAt(url)) === slots.length);
  const offered = [
    ['base', 8453, NETWORKS[8453].usdc.address, PRICE],
    ['base-sepolia', 84532, NETWORKS[84532].usdc.address, PRICE],
    ['base-sepolia', 84532, '0x00000000000000000000000000000000000D0115', OTHER_PRICE],
  ] as const;
  const unpaid = await fetch(`${url}/subscribe`, { method: 'POST' });
  t.match(await unpaid.json(), {
    accepts: offered.map(([network, , asset, price]) => ({ network, asset, amount: String(price) })),
  });
  const required = unpaid.headers.get('payment-required') ?? '';
  t.match(JSON.parse(Buffer.from(required, 'base64').toString()), {
    accepts: offered.map(([, id, asset, price]) => ({
      network: `eip155:${id}`,
      asset,
      amount: String(price),
    })),
  });
  t.equal(unpaid.headers.get('www-authenticate')?.match(/Payment id=/g)?.length, 3);

  const paying = [
    [ALICE, base.dollar],
    [BOB, sepolia.dollar],
    [CAROL, other],
  ] as const;
  for (const [position, [buyer, dollar]] of paying.entries()) {
    const before = await dollar.balanceOf(PAY_TO.address);
    const client = new x402Client((_, accepts) => accepts.slice(position)[0] ?? (accepts[0] as never));
    registerExactEvmScheme(client, { signer: privateKeyToAccount(buyer.privateKey) });
    client.setSpendControls(false);
    const response = await wrapFetchWithPayment(fetch, client)(`${url}/subscribe`, { method: 'POST' });
    t.equal(response.status, 200, String(offered[position]?.join()));
    t.equal((await dollar.balanceOf(PAY_TO.address)) - before, offered[position]?.[3]);
  }
});

/** Code whose `isValidSignature` accepts whatever it is shown (ERC-1271): it returns 0x1626ba7e to every call. */
const ACCEPTS_ALL = '0x631626ba7e60e01b60005260206000f3';

t.test('code at the address of a subscriber, on another chain, gets nothing of theirs', async (t) => {
  const { url } = await start(t, FILE);
  await linkNode(t, url, { slots: [slotAt(1), slotAt(2)] });
  await until('numbers on sale', async () => (await availableAt(url)) === 2);
  const thief = privateKeyToAccount(generatePrivateKey());
  const safe = await (await startSmartAccounts(base)).safe();
  await safe.fund(PRICE);
  t.match(await present(url, (await signTransfer(safe, base)).header), { status: 200 });
  await buyNumber(url, BOB.privateKey);
  for (const victim of [safe.address, privateKeyToAccount(BOB.privateKey).address]) {
    await sepolia.control.setCode({ address: victim, bytecode: ACCEPTS_ALL });
    await sepolia.dollar.fund(victim, PRICE);
    const before = await sepolia.dollar.balanceOf(victim);
    const forged = { ...thief, address: victim };
    t.match(await present(url, (await signTransfer(forged, sepolia)).header), {
      status: 402,
      body: { error: 'foreign_account' },
    });
    t.equal(await sepolia.dollar.balanceOf(victim), before, 'no money moved');
    t.equal((await signIn(url, forged)).status, 401);
  }
});

t.test('a token that is not what it should be stops the start', async (t) => {
  const starts = (change: (file: string) => string) => start(t, change(FILE));
  await t.rejects(
    starts((file) => file.replace(OTHER.name, 'Better Dollar')),
    {
      message: /cannot take 0x0+D0115 on chain 84532 at .*: its name is "Other Dollar", not "Better Dollar"/,
    },
  );
  await t.rejects(
    starts((file) => file.replace(OTHER.address, PAY_TO.address)),
    { message: /cannot take/ },
  );
  await t.rejects(
    starts((file) => file.replace(base.rpcUrl, sepolia.rpcUrl)),
    {
      message: /the RPC serves chain 84532, not 8453/,
    },
  );
  await t.rejects(
    starts((file) => file.replace('price_atomic', 'price_atomc')),
    {
      message:
        /payments\.yaml:4:\d+: networks\[0\]\.assets\[0\]\.price_atomc: unknown key; did you mean price_atomic\?/,
    },
  );
});
