// Refunds that are killed anywhere, asked for by two at once, or kept from the chain: the money goes back once.
import t from 'tap';
import type { Hex } from 'viem';
import { ALICE } from '../../dev-stack/wallets.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { REFUNDED, unhonoured } from '../../fixtures/payments/unhonoured.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 380_000 };

const rig = await createRig();
const { dollar } = rig.chain;
const chain = rig.chain.control;

t.test('killed anywhere between the first check and the receipt: one refund', TIMEOUT, async (t) => {
  const points: Array<[string, number, 'before' | 'after']> = [
    ['eth_getBalance', 1, 'after'],
    ['eth_getTransactionReceipt', 2, 'before'],
    ['eth_sendRawTransaction', 1, 'after'],
  ];
  const { control, ids, killedAt, order, sentBack, stateOf } = await unhonoured(t, rig, {
    count: points.length,
  });
  for (const [index, [method, nth, fate]] of points.entries()) {
    const id = ids[index] as string;
    await killedAt(id, method, nth, fate);
    t.match(await control(order(id)), { status: 0, stdout: REFUNDED });
    t.equal(await stateOf(id), 'refunded');
    t.equal(await sentBack(), BigInt(index + 1) * PRICE, `after ${method} ${nth}`);
  }
});

t.test('two operators at once: of one payment, and of two with the same nonce', TIMEOUT, async (t) => {
  const { control, controlApart, ids, operatorLine, order, sentBack } = await unhonoured(t, rig, {
    count: 3,
  });
  const [one, two, three] = ids as [string, string, string];
  /** Both have read the account before either signs. */
  const together = (...both: [string, string]) => {
    let waiting = 0;
    operatorLine.interfere = async (method, forward) => {
      if (method !== 'eth_getBalance') return forward();
      waiting += 1;
      await until('the other', () => waiting >= 2, 30_000);
      return forward();
    };
    return Promise.all(both.map((id) => controlApart(order(id), { RPC_URL: operatorLine.url })));
  };
  const [first, second] = await together(one, one);
  t.match(first, { status: 0, stdout: REFUNDED });
  t.equal(first?.stdout, second?.stdout, 'by the same transaction');
  t.equal(await sentBack(), PRICE);

  const answers = await together(two, three);
  t.same(answers.map(({ status }) => status).sort(), [0, 2], answers.map(({ stderr }) => stderr).join());
  t.match(answers.find(({ status }) => status === 2)?.stderr, /has the next nonce of 0x.*Finish that one/);
  const refused = answers[0]?.status === 2 ? two : three;
  t.match(await control(order(refused)), { status: 0, stdout: REFUNDED });
  t.equal(await sentBack(), 3n * PRICE);
});

t.test(
  'a transaction that can never move the money is replaced only when that is asked for',
  TIMEOUT,
  async (t) => {
    const { account, control, ids, killedAt, operatorLine, order, sentBack } = await unhonoured(t, rig, {
      count: 2,
    });
    const [refusedByToken, nonceTaken] = ids as [string, string];
    operatorLine.interfere = async (method, forward) => {
      if (method === 'eth_sendRawTransaction') await dollar.administer('blacklist', [ALICE.address]);
      return forward();
    };
    const mined = await control(order(refusedByToken), { RPC_URL: operatorLine.url });
    t.match(mined, {
      status: 3,
      stderr:
        /0x[0-9a-f]{64} was mined and moved nothing. Run "[^"]*control-plane.* payment refund pay_[0-9a-f]{24} --sign-anew"/,
    });
    await dollar.administer('unBlacklist', [ALICE.address]);
    operatorLine.interfere = undefined;
    const again = await control(order(refusedByToken));
    t.match(again, { status: 3, stderr: /--sign-anew/ });
    const signAnew = [...order(refusedByToken), '--sign-anew'];
    t.match(await control(signAnew), { status: 3, stderr: /a block that a reorganization may still revert/ });
    await chain.mine({ blocks: SAFE_LAG_BLOCKS });
    t.equal(await sentBack(), 0n);
    t.match(await control(signAnew), { status: 0, stdout: REFUNDED });
    t.equal(await sentBack(), PRICE);

    await killedAt(nonceTaken, 'eth_sendRawTransaction', 1, 'before');
    const hash: Hex = await chain.sendTransaction({ account, chain: null, to: account.address, value: 0n });
    await chain.waitForTransactionReceipt({ hash });
    const early = await control([...order(nonceTaken), '--sign-anew'], { REFUND_WAIT_MS: '0' });
    t.match(early, {
      status: 3,
      stderr:
        /is not mined yet \(error of the RPC: .*nonce too low.*Run "[^"]*control-plane.* payment refund pay_/,
    });
    await chain.mine({ blocks: 64 });
    t.match(await control([...order(nonceTaken), '--sign-anew']), { status: 0, stdout: REFUNDED });
    t.equal(await sentBack(), 2n * PRICE);
  },
);
