// Releases of the x402 clients that agents still have pay the same 402: of each major version its first, and one between.
// Those of v1 share the package x402 1.2, as an installation of today does; those of v2 have the core of their own release.
import t from 'tap';
import type { Hex, LocalAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { BUYERS } from '../../dev-stack/wallets.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { requireTool } from '../../fixtures/tools.ts';

type Fetch = typeof fetch;

/** The exports of every release, as far as they are used here. */
interface FetchOfV1 {
  wrapFetchWithPayment(fetchFn: Fetch, account: LocalAccount, maxAtomic: bigint): Fetch;
}
interface FetchOfV2 {
  wrapFetchWithPayment(fetchFn: Fetch, client: object): Fetch;
  x402Client: new () => { setSpendControls?(controls: false): void };
}
interface SchemesOfV2 {
  registerExactEvmScheme(client: object, options: { signer: LocalAccount }): void;
}

function payerOfV1(name: string, key: Hex): Fetch {
  const { wrapFetchWithPayment } = requireTool(name) as FetchOfV1;
  return wrapFetchWithPayment(fetch, privateKeyToAccount(key), PRICE);
}

function payerOfV2(version: string, key: Hex): Fetch {
  const { wrapFetchWithPayment, x402Client } = requireTool(`x402-fetch-v${version}`) as FetchOfV2;
  const { registerExactEvmScheme } = requireTool(`x402-evm-v${version}/exact/client`) as SchemesOfV2;
  const client = new x402Client();
  registerExactEvmScheme(client, { signer: privateKeyToAccount(key) });
  client.setSpendControls?.(false);
  return wrapFetchWithPayment(fetch, client);
}

const RELEASES = [
  ['x402-fetch 1.0', (key: Hex) => payerOfV1('x402-fetch-1.0', key)],
  ['x402-fetch 1.1', (key: Hex) => payerOfV1('x402-fetch-1.1', key)],
  ['@x402/fetch 2.0', (key: Hex) => payerOfV2('2.0', key)],
  ['@x402/fetch 2.14', (key: Hex) => payerOfV2('2.14', key)],
] as const;

const rig = await createRig();

t.test('each buys a number, and pays once', async (t) => {
  const { url } = await rig.start(t);
  await rig.connect(t, url, { slots: RELEASES.map((_, index) => slotAt(index)) });
  for (const [index, [name, payer]] of RELEASES.entries()) {
    const buyer = BUYERS[index];
    if (buyer === undefined) throw new Error('too few buyers');
    const before = await rig.chain.dollar.balanceOf(buyer.address);
    const response = await payer(buyer.privateKey)(`${url}/subscribe`, { method: 'POST' });
    t.equal(response.status, 200, name);
    t.match(await response.json(), { number: /^\+1206555/, renewed: false }, name);
    t.equal(before - (await rig.chain.dollar.balanceOf(buyer.address)), PRICE, `${name}: the price`);
  }
});
