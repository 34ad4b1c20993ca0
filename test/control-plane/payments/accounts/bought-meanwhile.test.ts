// A sign-in by the code at a wallet's address on one chain, while the wallet buys on another chain: it is not the holder's.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { PAY_TO } from '../../../dev-stack/wallets.ts';
import { signTransfer } from '../../../fixtures/chain/authorizations.ts';
import { PRICE, startPaidChain } from '../../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { startSmartAccounts } from '../../../fixtures/chain/smart-accounts.ts';
import { signIn } from '../../../fixtures/payments/payer.ts';
import { answerOf, present } from '../../../fixtures/payments/presented.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

/** Code that accepts each signature (EIP-1271). */
const ACCEPTS_ALL = '0x631626ba7e60e01b60005260206000f3';

const rig = await createRig();
const base = await startPaidChain(8453);
t.teardown(() => base.stop());

t.test('a sign-in that began before the purchase takes nothing from the buyer', async (t) => {
  const line = await startRpcProxy(t, rig.chain.rpcUrl);
  const paymentsFile = join(temporaryFolder(t), 'payments.yaml');
  const network = (chainId: number, rpcUrl: string): string =>
    `  - { chain_id: ${chainId}, rpc_url: "${rpcUrl}", assets: [{ pay_to: "${PAY_TO.address}", price_atomic: ${PRICE} }] }\n`;
  writeFileSync(paymentsFile, `networks:\n${network(8453, base.rpcUrl)}${network(84532, line.url)}`);
  const { url } = await rig.start(t, {
    paymentsFile,
    rpcUrl: undefined,
    payTo: undefined,
    heartbeatMs: 6_000_000,
  });
  await rig.connect(t, url);
  const buyer = await (await startSmartAccounts(base)).safe();
  await buyer.fund(PRICE);
  // A payment of the thief on its chain, which is not charged, makes that chain the one whose code signs in.
  await rig.chain.control.setCode({ address: buyer.address, bytecode: ACCEPTS_ALL });
  await rig.chain.dollar.fund(buyer.address, PRICE);
  const thief = { ...privateKeyToAccount(generatePrivateKey()), address: buyer.address };
  line.interfere = async (method, forward) => {
    if (method === 'eth_getTransactionCount') throw new Error('gone');
    return forward();
  };
  t.match(await present(url, (await signTransfer(thief as never, rig.chain)).header), { status: 503 });
  t.match(await answerOf(await signIn(url, thief)), { status: 402 }, 'its signature is accepted');
  let goOn = (): void => undefined;
  const bought = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let isAsked = false;
  line.interfere = async (method, forward) => {
    if (method === 'eth_call') {
      isAsked = true;
      await bought;
    }
    return forward();
  };
  const stealing = signIn(url, thief);
  await until('the chain of the thief is asked', () => isAsked);
  const purchase = await present(url, (await signTransfer(buyer, base)).header);
  t.match(purchase, { status: 200 });
  goOn();
  t.match(await answerOf(await stealing), { status: 401, body: { error: 'signature_mismatch' } });
  const headers = { Authorization: `Bearer ${String(purchase.body['token'])}` };
  t.equal((await fetch(`${url}/number`, { headers })).status, 200, "the buyer's token works");
});
