// Every payment client, unmodified, buys a number from the same answer, on both chains.
import { ExactEvmScheme, registerExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { Receipt } from 'mppx';
import { evm, Mppx } from 'mppx/client';
import t from 'tap';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { decodeXPaymentResponse } from 'x402-fetch';
import type { ChainId } from '#shared/api/payment-networks.ts';
import { BUYERS, PAY_TO } from '../../dev-stack/wallets.ts';
import { PRICE, startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { paySubscribe } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { startNats } from '../../fixtures/service/nats.ts';
import { instanceCount } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const postgres = await openDatabases(t);

interface Receipt402 {
  payer?: string;
  network?: string;
  transaction: string;
}

interface Payer {
  name: string;
  pay(url: string, key: Hex, chainId: ChainId): Promise<Response>;
  /** The receipt that its own decoder reads in the answer. */
  receipt(response: Response): Receipt402;
}

const header = (response: Response, name: string): string => {
  const value = response.headers.get(name);
  if (value === null) throw new Error(`no ${name}`);
  return value;
};

const PAYERS: readonly Payer[] = [
  {
    name: 'x402-fetch (v1)',
    pay: (url, key) => paySubscribe(url, key),
    receipt: (response) => decodeXPaymentResponse(header(response, 'x-payment-response')) as Receipt402,
  },
  {
    name: '@x402/fetch (v2)',
    pay(url, key) {
      const client = new x402Client();
      registerExactEvmScheme(client, { signer: privateKeyToAccount(key) });
      client.setSpendControls({ maxAmountPerPayment: '$1800' });
      return wrapFetchWithPayment(fetch, client)(`${url}/subscribe`, { method: 'POST' });
    },
    receipt: (response) => decodePaymentResponseHeader(header(response, 'payment-response')) as Receipt402,
  },
  {
    name: '@x402/fetch (v2) with only its own scheme',
    pay(url, key, chainId) {
      const client = new x402Client();
      client.register(`eip155:${chainId}`, new ExactEvmScheme(privateKeyToAccount(key)));
      client.setSpendControls(false);
      return wrapFetchWithPayment(fetch, client)(`${url}/subscribe`, { method: 'POST' });
    },
    receipt: (response) => decodePaymentResponseHeader(header(response, 'payment-response')) as Receipt402,
  },
  {
    name: 'mppx',
    pay(url, key, chainId) {
      const assets = [chainId === 8453 ? evm.assets.base.USDC : evm.assets.baseSepolia.USDC];
      const method = evm.charge({ account: privateKeyToAccount(key), assets });
      const client = Mppx.create({ methods: [method], polyfill: false });
      return client.fetch(`${url}/subscribe`, { method: 'POST' });
    },
    receipt: (response) => ({ transaction: Receipt.fromResponse(response).reference }),
  },
];

for (const chainId of [8453, 84532] as const) {
  t.test(`on chain ${chainId}`, async (t) => {
    const chain = await startPaidChain(chainId);
    t.teardown(() => chain.stop());
    const instances = instanceCount();
    const natsUrl = instances > 1 ? [(await startNats(t)).url] : undefined;
    const databaseUrl = await postgres.createMigrated();
    const service = await startControlPlane(chain, { natsUrl, databaseUrl }, instances);
    t.teardown(() => service.stop());
    const slots = PAYERS.map((_, index) => slotAt(index));
    await linkNode(t, service.url, { slots });
    await until('numbers on sale', async () => (await availableAt(service.url)) === slots.length);
    for (const [index, { name, pay, receipt }] of PAYERS.entries()) {
      await t.test(name, async (t) => {
        const buyer = BUYERS[index];
        if (buyer === undefined) throw new Error('too few buyers');
        const before = await chain.dollar.balanceOf(PAY_TO.address);
        const response = await pay(service.url, buyer.privateKey, chainId);
        t.equal(response.status, 200);
        t.match(response.headers.get('cache-control'), 'no-store');
        t.match(await response.clone().json(), { number: /^\+1206555/, renewed: false });
        t.equal((await chain.dollar.balanceOf(PAY_TO.address)) - before, PRICE, 'exactly the price moved');
        const { transaction, payer = buyer.address } = receipt(response);
        t.match(transaction, /^0x[0-9a-f]{64}$/);
        t.equal(payer, buyer.address);
        t.match(await pay(service.url, buyer.privateKey, chainId).then((again) => again.json()), {
          renewed: true,
        });
      });
    }
  });
}
