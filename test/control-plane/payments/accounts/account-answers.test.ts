// Answers of the code that strangers name: its length costs the service nothing, and only the account itself decides about a signature.
import t, { type Test } from 'tap';
import { type Address, serializeErc6492Signature } from 'viem';
import { signTransfer } from '../../../fixtures/chain/authorizations.ts';
import { PRICE } from '../../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { type SmartAccount, startSmartAccounts } from '../../../fixtures/chain/smart-accounts.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { signIn } from '../../../fixtures/payments/payer.ts';
import { type Answer, answerOf, present } from '../../../fixtures/payments/presented.ts';
import { createRig } from '../../../fixtures/service/rig.ts';

const rig = await createRig();
const accounts = await startSmartAccounts(rig.chain);

/** More than any client of an RPC reads. */
const ENDLESS_BYTES = 12_000_000;

async function setUp(t: Test) {
  const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
  const { url } = await rig.start(t, { rpcUrl: rpc.url });
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  const pay = async (account: SmartAccount): Promise<string> =>
    summary(await present(url, (await signTransfer(account, rig.chain)).header));
  const enter = async (...asked: [SmartAccount, Address?]): Promise<string> =>
    summary(await answerOf(await signIn(url, ...asked)));
  return { rpc, pay, enter };
}

const summary = ({ status, body }: Answer): string => `${status} ${String(body['error'] ?? 'ok')}`;

const revertedWith = (data: string) => ({
  jsonrpc: '2.0',
  id: 1,
  error: { code: 3, message: 'execution reverted', data },
});

for (const how of ['reverts', 'returns'] as const) {
  t.test(`an account that ${how} more than fits into an answer has signed nothing`, async (t) => {
    const { pay } = await setUp(t);
    for (const bytes of [1_000, 100_000, 900_000, 1_200_000])
      t.equal(await pay(await accounts.loud1271(bytes, how)), '402 invalid_signature', `${bytes} bytes`);
  });
}

t.test('data of a revert that does not end is no RPC that fails', async (t) => {
  const { rpc, pay, enter } = await setUp(t);
  const safe = await accounts.safe();
  await safe.fund(2n * PRICE);
  t.equal(await pay(safe), '200 ok');
  const endless = revertedWith(`0x${'00'.repeat(ENDLESS_BYTES)}`);
  rpc.interfere = async (method, forward) => (method === 'eth_call' ? endless : forward());
  rpc.asked.length = 0;
  t.equal(await pay(safe), '402 invalid_signature');
  t.equal(await enter(safe), '401 signature_mismatch');
  const calls = rpc.asked.filter((method) => method === 'eth_call');
  t.equal(calls.length, 3, 'one for the payment, one for each text of the sign-in: no call is repeated');
  rpc.interfere = async (method, forward) => (method === 'eth_estimateGas' ? endless : forward());
  t.equal(await pay(safe), '402 transfer_refused');
  rpc.interfere = undefined;
  t.equal(await pay(safe), '200 ok');
});

t.test('a long page in place of an answer is an RPC that fails', async (t) => {
  const { rpc, pay } = await setUp(t);
  const safe = await accounts.safe();
  await safe.fund(PRICE);
  const page = '<p>maintenance</p>'.repeat(100_000);
  for (const failing of ['eth_call', 'eth_estimateGas']) {
    rpc.interfere = async (method, forward) => (method === failing ? page : forward());
    t.equal(await pay(safe), '503 settlement_unavailable', failing);
  }
});

t.test('the factory in a signature is not called for an account that is deployed', async (t) => {
  const { rpc, pay, enter } = await setUp(t);
  const account = await accounts.counterfactual();
  const trap = await accounts.lyingFactory6492({ trigger: 'always' });
  const named = (params: readonly unknown[], factory: Address): boolean =>
    JSON.stringify(params).toLowerCase().includes(factory.slice(2).toLowerCase());
  const run: Address[] = [];
  rpc.interfere = async (method, forward, params) => {
    if (method === 'eth_call')
      run.push(...[account.factory, trap.factory].filter((factory) => named(params, factory)));
    return forward();
  };
  await account.fund(2n * PRICE);
  t.equal(await pay(account), '200 ok');
  t.same(run, [account.factory], 'the payment deploys it');
  run.length = 0;
  t.equal(await pay(account), '200 ok');
  t.equal(await enter(account), '200 ok', 'its own signature inside counts');
  const trapped = { ...trap, address: account.address };
  t.equal(await enter(trapped), '401 signature_mismatch');
  t.equal(await pay(trapped), '402 invalid_signature');
  const twice = {
    ...account,
    signMessage: async () =>
      serializeErc6492Signature({
        address: account.factory,
        data: account.factoryData,
        signature: await trap.signMessage({ message: 'anything' }),
      }),
  };
  t.equal(await enter(twice), '401 signature_mismatch', 'nor the one in the signature inside');
  t.same(run, []);
});
