// Refunds whose transaction was replaced by hand or is not found: the money goes back once, whatever an operator tries.
import t from 'tap';
import { parseAbi } from 'viem';
import { ALICE } from '../../dev-stack/wallets.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { REFUNDED, unhonoured } from '../../fixtures/payments/unhonoured.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const TRANSFER = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
const TIMEOUT = { timeout: 380_000 };
/** So old a use of a nonce is believed. */
const NONCE_DEPTH_BLOCKS = 64;

const rig = await createRig();
const chain = rig.chain.control;

type Unhonoured = Awaited<ReturnType<typeof unhonoured>>;

/** The same money to the same payer, from a wallet. */
const byHand = ({ account }: Unhonoured, nonce: number) =>
  chain.writeContract({
    account,
    chain: null,
    address: rig.chain.dollar.asset,
    abi: TRANSFER,
    functionName: 'transfer',
    args: [ALICE.address, PRICE],
    nonce,
    gas: 200_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 50_000_000_000n,
  });

const nonceOf = ({ account: { address } }: Unhonoured) =>
  chain.getTransactionCount({ address, blockTag: 'latest' });

t.test('sped up in a wallet: found by its nonce, and not sent again', TIMEOUT, async (t) => {
  const stack = await unhonoured(t, rig, { count: 2 });
  const [id] = stack.ids as [string, string];
  await chain.setAutomine(false);
  t.teardown(() => chain.setAutomine(true));
  t.equal((await stack.control(stack.order(id), { REFUND_WAIT_MS: '0' })).status, 3);
  const hash = await byHand(stack, await nonceOf(stack));
  await chain.mine({ blocks: 1 + NONCE_DEPTH_BLOCKS });
  await chain.setAutomine(true);
  const again = await stack.control([...stack.order(id), '--sign-anew']);
  t.match(again, { status: 0, stdout: REFUNDED });
  t.match(again.stdout, hash);
  t.equal(await stack.stateOf(id), 'refunded');
  t.equal(await stack.sentBack(), PRICE);
});

t.test(
  'sent by hand under another nonce: refused until it is named as something else',
  TIMEOUT,
  async (t) => {
    const stack = await unhonoured(t, rig, { count: 2 });
    const [id] = stack.ids as [string, string];
    await chain.setAutomine(false);
    t.teardown(() => chain.setAutomine(true));
    t.equal((await stack.control(stack.order(id), { REFUND_WAIT_MS: '0' })).status, 3);
    const nonce = await nonceOf(stack);
    const { account } = stack;
    await chain.sendTransaction({
      account,
      chain: null,
      to: account.address,
      value: 0n,
      nonce,
      gas: 21_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 50_000_000_000n,
    });
    const hash = await byHand(stack, nonce + 1);
    await chain.mine({ blocks: 1 + NONCE_DEPTH_BLOCKS });
    await chain.setAutomine(true);
    t.match(await stack.control(stack.order(id)), { status: 3, stderr: /--sign-anew/ });
    const secondTime = await stack.control([...stack.order(id), '--sign-anew']);
    t.match(secondTime, { status: 2, stderr: new RegExp(`${hash} sent the payer the same amount`) });
    t.equal(await stack.sentBack(), PRICE);
    const named = await stack.control([...stack.order(id), '--sign-anew', '--unrelated', hash]);
    t.match(named, { status: 0, stdout: REFUNDED });
    t.equal(await stack.sentBack(), 2n * PRICE);
  },
);

t.test('its receipt is not found by an RPC: not sent again', TIMEOUT, async (t) => {
  const stack = await unhonoured(t, rig);
  const [id] = stack.ids as [string];
  await chain.setAutomine(false);
  t.teardown(() => chain.setAutomine(true));
  t.equal((await stack.control(stack.order(id), { REFUND_WAIT_MS: '0' })).status, 3);
  await chain.mine({ blocks: 1 + NONCE_DEPTH_BLOCKS });
  await chain.setAutomine(true);
  stack.operatorLine.interfere = async (method, forward) => {
    const answer = (await forward()) as object;
    return method === 'eth_getTransactionReceipt' ? { ...answer, result: null } : answer;
  };
  const secondTime = await stack.control([...stack.order(id), '--sign-anew'], {
    RPC_URL: stack.operatorLine.url,
  });
  t.match(secondTime, { status: 0, stdout: REFUNDED });
  t.equal(await stack.sentBack(), PRICE);
});

t.test('the RPC dies behind the broadcast: begun, and to be run again', TIMEOUT, async (t) => {
  const stack = await unhonoured(t, rig);
  const [id] = stack.ids as [string];
  let isSent = false;
  stack.operatorLine.interfere = async (method, forward) => {
    if (isSent) throw new Error('gone');
    isSent = method === 'eth_sendRawTransaction';
    return forward();
  };
  const ran = await stack.control(stack.order(id), { RPC_URL: stack.operatorLine.url });
  t.match(ran, {
    status: 3,
    stderr: /Run "[^"]*control-plane.* payment refund pay_[0-9a-f]{24}" to finish it/,
  });
  t.match(await stack.control(stack.order(id)), { status: 0, stdout: REFUNDED });
  t.equal(await stack.sentBack(), PRICE);
});
