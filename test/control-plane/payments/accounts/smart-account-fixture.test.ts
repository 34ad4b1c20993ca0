// The accounts of the fixture against the token alone: honest ones pay, liars pass a simulation and fail when sent.
import t, { type Test } from 'tap';
import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  getAddress,
  type Hex,
  hashMessage,
  http,
  keccak256,
  type LocalAccount,
  multicall3Abi,
  parseAbi,
  parseErc6492Signature,
  publicActions,
  recoverAddress,
  type TransactionReceipt,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import { BUYERS, RELAYER } from '../../../dev-stack/wallets.ts';
import { keyFrom, MULTICALL3 } from '../../../fixtures/chain/account-chain.ts';
import { PRICE, startPaidChain } from '../../../fixtures/chain/paid-chain.ts';
import {
  type CounterfactualAccount,
  type SmartAccount,
  startSmartAccounts,
} from '../../../fixtures/chain/smart-accounts.ts';
import { until } from '../../../fixtures/until.ts';

const SENT_GAS = 150_000n;
const TOKEN = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
const TRANSFER = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const chain = await startPaidChain();
t.teardown(() => chain.stop());
const accounts = await startSmartAccounts(chain);
const relayer = privateKeyToAccount(RELAYER.privateKey);
const client = createWalletClient({
  account: relayer,
  transport: http(chain.rpcUrl),
  pollingInterval: 20,
}).extend(publicActions);

interface Call {
  to: Address;
  data: Hex;
}
let used = 0;
const fresh = (): Address => keyFrom(`payee ${++used}`).address;

/** The transfer that an account signs. Its payee has no dollars yet, which costs the most gas. */
async function transferOf(
  payer: LocalAccount,
  to: Address = fresh(),
): Promise<{ to: Address; signature: Hex; call(bare: Hex): Call }> {
  const message = {
    from: payer.address,
    to,
    value: PRICE,
    validAfter: 0n,
    validBefore: 2n ** 40n,
    nonce: keccak256(toHex(`nonce ${++used}`)),
  };
  const { name } = NETWORKS[chain.chainId].usdc.domain;
  const domain = { name, version: '2', chainId: chain.chainId, verifyingContract: chain.dollar.asset };
  const signature = await payer.signTypedData({
    domain,
    types: TRANSFER,
    primaryType: 'TransferWithAuthorization',
    message,
  });
  return { to, signature, call: (bare: Hex): Call => callOf(message, bare) };
}

function callOf(message: Record<string, unknown>, signature: Hex): Call {
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as never;
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'transferWithAuthorization', args });
  return { to: chain.dollar.asset, data };
}

/** The factory's call and the transfer, in one call that fails as a whole. */
function deployAndTransfer(account: CounterfactualAccount, transfer: Call): Call {
  const calls = [
    { target: account.factory, callData: account.factoryData, allowFailure: false },
    { target: transfer.to, callData: transfer.data, allowFailure: false },
  ];
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] });
  return { to: MULTICALL3, data };
}

/** Simulates a call both ways, as from the relayer; throws if either fails. */
async function simulated(call: Call): Promise<bigint> {
  await client.call({ ...call, account: relayer.address });
  return client.estimateGas({ ...call, account: relayer.address });
}

async function send(call: Call, gas: bigint): Promise<TransactionReceipt> {
  const hash = await client.sendTransaction({ ...call, gas, chain: null });
  return until('the transaction is mined', () => client.getTransactionReceipt({ hash }).catch(() => null));
}

/** Simulates, sends with what was estimated, and expects the dollars at the payee. */
async function pays(t: Test, name: string, payee: Address, call: Call): Promise<void> {
  const before = await chain.dollar.balanceOf(payee);
  const estimate = await simulated(call);
  const { status, gasUsed } = await send(call, estimate);
  t.equal(status, 'success', `${name}: sent`);
  t.equal((await chain.dollar.balanceOf(payee)) - before, PRICE, `${name}: paid`);
  t.comment(`gas of ${name}: used ${gasUsed}, estimate ${estimate}`);
}

/** Simulates, and expects that the same call fails when sent and moves nothing. */
async function liesWhenSent(
  t: Test,
  name: string,
  payee: Address,
  call: Call,
  gas = SENT_GAS,
): Promise<void> {
  const estimate = await simulated(call);
  const { status, gasUsed } = await send(call, gas);
  t.equal(status, 'reverted', `${name}: fails when sent`);
  t.equal(await chain.dollar.balanceOf(payee), 0n, `${name}: nothing moved`);
  t.comment(`gas of ${name}: used ${gasUsed} of ${gas}, estimate ${estimate}`);
}

t.test('a plain account pays', async (t) => {
  const [buyer] = BUYERS;
  const payer = privateKeyToAccount(buyer?.privateKey ?? '0x');
  const first = await transferOf(payer);
  await pays(t, 'plain account, first payment to a payee', first.to, first.call(first.signature));
  const second = await transferOf(payer, first.to);
  await pays(t, 'plain account, second payment to a payee', second.to, second.call(second.signature));
});

const DEPLOYED: Record<string, () => Promise<SmartAccount>> = {
  safe: accounts.safe,
  'EIP-7702 with its own key': accounts.delegated,
  'EIP-7702 with another key': accounts.delegatedToKey,
};
for (const [name, make] of Object.entries(DEPLOYED)) {
  t.test(`${name}: pays with an EIP-1271 signature, and signs messages`, async (t) => {
    const payer = await make();
    await payer.fund(PRICE);
    const { to, signature, call } = await transferOf(payer);
    await pays(t, name, to, call(signature));
    const message = 'sign in';
    const signed = await payer.signMessage({ message });
    t.equal(signed.length, 2 + 65 * 2);
    t.ok(await client.verifyMessage({ address: payer.address, message, signature: signed }));
    t.notOk(await client.verifyMessage({ address: payer.address, message: 'another', signature: signed }));
    const recovered = await recoverAddress({ hash: hashMessage(message), signature: signed });
    t.equal(recovered === getAddress(payer.address), name === 'EIP-7702 with its own key');
  });
}

t.test('a Safe that is not deployed pays with the call of its factory first', async (t) => {
  const payer = await accounts.counterfactual();
  await payer.fund(PRICE);
  const { to, signature, call } = await transferOf(payer);
  t.equal(await client.getCode({ address: payer.address }), undefined);
  const message = 'sign in';
  const signed = await payer.signMessage({ message });
  t.ok(
    await client.verifyMessage({ address: payer.address, message, signature: signed }),
    'ERC-6492 message',
  );
  const { address, data, signature: bare } = parseErc6492Signature(signature);
  t.same([getAddress(address ?? MULTICALL3), data], [payer.factory, payer.factoryData]);
  await pays(t, 'Safe through its factory', to, deployAndTransfer(payer, call(bare)));
  t.ok(await client.getCode({ address: payer.address }), 'deployed');

  await payer.fund(PRICE);
  const again = await transferOf(payer.bare);
  await pays(t, 'Safe once deployed', again.to, again.call(again.signature));
});

t.test('accounts that lie pass the simulation and fail when sent', async (t) => {
  for (const misdeed of ['burn', 'revert'] as const) {
    for (const kind of ['lying1271', 'lying7702'] as const) {
      const payer = await accounts[kind]({ misdeed });
      await payer.fund(PRICE);
      const { to, signature, call } = await transferOf(payer);
      await liesWhenSent(t, `${kind}, ${misdeed}`, to, call(signature));
    }
    for (const kind of ['lyingFactory6492', 'lyingAccount6492'] as const) {
      const payer = await accounts[kind]({ misdeed });
      await payer.fund(PRICE);
      const { to, signature, call } = await transferOf(payer);
      const bare = call(parseErc6492Signature(signature).signature);
      const both = deployAndTransfer(payer, bare);
      await liesWhenSent(t, `${kind}, ${misdeed}`, to, both);
      // Enough for an honest deployment: the lie is what fails.
      await liesWhenSent(t, `${kind}, ${misdeed}`, to, both, 2n * (await simulated(both)));
    }
  }
});

t.test('every trigger of a liar, and one that wastes gas and pays', async (t) => {
  const payer = await accounts.lying1271({ trigger: 'origin' });
  await payer.fund(PRICE);
  const first = await transferOf(payer);
  const call = first.call(first.signature);
  await client.estimateGas({ ...call, account: fresh() });
  await t.rejects(client.call({ ...call, account: relayer.address }), 'origin: refuses the relayer');
  await payer.setLie({ trigger: 'never' });
  await simulated(call);
  await payer.setLie({ trigger: 'always' });
  t.equal((await send(call, SENT_GAS)).status, 'reverted', 'switched between simulation and send');

  await payer.setLie({ trigger: 'gasPrice', misdeed: 'waste' });
  const estimate = await simulated(call);
  const { status, gasUsed } = await send(call, 10_000_000n);
  t.equal(status, 'success');
  t.ok(gasUsed > 9_000_000n);
  t.comment(`gas of lying1271, waste: used ${gasUsed} of 10000000, estimate ${estimate}`);
});

t.test('the expensive account needs 16 M gas, always', async (t) => {
  const payer = await accounts.expensive1271();
  await payer.fund(PRICE);
  const { to, signature, call } = await transferOf(payer);
  const estimate = await simulated(call(signature));
  t.ok(estimate > 16_000_000n);
  t.equal((await send(call(signature), SENT_GAS)).status, 'reverted');
  await pays(t, 'expensive account', to, call(signature));
});
