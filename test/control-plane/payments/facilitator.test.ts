// Settlement by an x402 facilitator in place of our relayer: the payer does not notice, and the service believes only the chain.
import { evm, Mppx } from 'mppx/client';
import t, { type Test } from 'tap';
import { publicActions } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Config } from '#control-plane/config/config.ts';
import { ALICE, BOB, MINTER, PAY_TO, type Wallet } from '../../dev-stack/wallets.ts';
import { signTransfer } from '../../fixtures/chain/authorizations.ts';
import { startFacilitator } from '../../fixtures/chain/facilitator.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber, recoverToken, signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { availableAt, present } from '../../fixtures/payments/presented.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const chain = rig.chain.control;

/** A service without a relayer, with two numbers. */
async function setUp(t: Test, options: Partial<Config> = {}) {
  const port = await freePort();
  const facilitator = await startFacilitator(rig.chain, { port });
  t.teardown(() => facilitator.stop());
  const clock = new ManualClock();
  const { url, databaseUrl } = await rig.start(t, {
    clock,
    heartbeatMs: 100 * MINUTE_MS,
    settlementWaitMs: 500,
    facilitatorUrl: facilitator.url,
    relayerKey: undefined,
    ...options,
  });
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
  return {
    clock,
    databaseUrl,
    facilitator,
    url,
    /** Another one at the same address. */
    restart: async () => {
      const next = await startFacilitator(rig.chain, { port });
      t.teardown(() => next.stop());
    },
    paid: async () => (await rig.chain.dollar.balanceOf(PAY_TO.address)) - before,
    available: () => availableAt(url),
    present: (header: string, address?: string) => present(url, header, address),
    /** Housekeeping, minute by minute, until the buyer has a number. */
    isServed: ({ privateKey }: Wallet) =>
      until('a subscription', async () => {
        clock.advance(MINUTE_MS);
        return (await recoverToken(url, privateKey)).status === 200;
      }),
  };
}

t.test('clients of every protocol pay, and the relayer is not ours', async (t) => {
  const { facilitator, paid, url } = await setUp(t);
  t.match(await buyNumber(url, ALICE.privateKey), { renewed: false });
  const assets = [rig.chain.chainId === 8453 ? evm.assets.base.USDC : evm.assets.baseSepolia.USDC];
  const method = evm.charge({ account: privateKeyToAccount(BOB.privateKey), assets });
  const response = await Mppx.create({ methods: [method], polyfill: false }).fetch(`${url}/subscribe`, {
    method: 'POST',
  });
  t.equal(response.status, 200);
  t.same(facilitator.asked, ['verify', 'settle', 'verify', 'settle']);
  t.equal(await paid(), 2n * PRICE);
});

t.test('an authorization that was refused charges nothing, and mints no token any more', async (t) => {
  const answers: (() => Promise<unknown>)[] = [
    async () => ({ isValid: false, invalidReason: 'unexpected' }),
    async () => 'no object',
    async () => 'x'.repeat(100_000),
    () => Promise.reject(new Error('busy')),
  ];
  for (const answer of answers) {
    const { available, facilitator, paid, present, url } = await setUp(t);
    const header = await signPaymentHeader(url, ALICE.privateKey);
    facilitator.interfere = answer;
    t.match(await present(header), { status: 503, body: { error: 'settlement_pending' } });
    t.equal(await available(), 2, 'no number is held for it');
    facilitator.interfere = undefined;
    t.match(await present(header), {
      status: 409,
      body: { error: 'payment_already_used', token: undefined },
    });
    t.match(await recoverToken(url, ALICE.privateKey), { status: 503 }, 'it may still be settled');
    const another = await signPaymentHeader(url, ALICE.privateKey);
    t.match(await present(another), { status: 503, body: { error: 'settlement_pending' } }, 'nor paid twice');
    t.equal(await paid(), 0n);
  }
});

t.test(
  'a facilitator that cannot be reached has seen nothing: the same payment may be presented again',
  async (t) => {
    const { available, facilitator, paid, present, restart, url } = await setUp(t);
    const header = await signPaymentHeader(url, ALICE.privateKey);
    await facilitator.stop();
    t.match(await present(header), { status: 503, body: { error: 'settlement_unavailable' } });
    t.equal(await available(), 2);
    await restart();
    t.match(await present(header), { status: 200 });
    t.equal(await paid(), PRICE);
  },
);

t.test(
  'an answer that is lost is found on the chain; whose transaction it was is not known, so that it is no ticket',
  async (t) => {
    const { facilitator, paid, present, url } = await setUp(t);
    facilitator.interfere = async (route, answer) => {
      const given = await answer();
      if (route === 'settle') throw new Error('lost');
      return given;
    };
    const answer = await present(await signPaymentHeader(url, ALICE.privateKey));
    t.match(answer, { status: 409, body: { error: 'payment_already_used' } });
    t.equal(await paid(), PRICE);
    t.equal((await recoverToken(url, ALICE.privateKey)).status, 200);
  },
);

t.test(
  'a payment that the facilitator does not settle holds no number after some minutes, and buys one once settled',
  async (t) => {
    const { available, clock, facilitator, isServed, present, url } = await setUp(t);
    facilitator.interfere = (route, answer) =>
      route === 'settle'
        ? Promise.resolve({ success: false, errorReason: 'unexpected_settle_error' })
        : answer();
    t.match(await present(await signPaymentHeader(url, ALICE.privateKey)), { status: 503 });
    t.equal(await available(), 1);
    for (let minute = 0; minute < 6; minute += 1) {
      clock.advance(MINUTE_MS);
      await roundIsOver(clock);
    }
    t.equal(await available(), 2, 'the number is on sale');
    facilitator.interfere = undefined;
    await isServed(ALICE);
    t.equal(await available(), 1);
  },
);

const ONE_A_DAY = { proxyHops: 1, refusedTransfersPerDay: 1 };

t.test(
  'money that moves from wallet to wallet reserves one number for an address with one try',
  async (t) => {
    const { available, clock, facilitator, present, url } = await setUp(t, ONE_A_DAY);
    const [first, second, third] = [1, 2, 3].map(() => privateKeyToAccount(generatePrivateKey()));
    if (!first || !second || !third) throw new Error('no payers');
    await rig.chain.dollar.fund(first.address, PRICE);
    for (const [payer, next, answer] of [
      [first, second, { status: 503, body: { error: 'settlement_pending' } }],
      [second, third, { status: 429, body: { error: 'rate_limited' } }],
    ] as const) {
      facilitator.interfere = async (route, settle) => {
        if (route !== 'settle') return settle();
        const { data } = await signTransfer(payer, rig.chain, { to: next.address });
        const sender = { account: privateKeyToAccount(MINTER.privateKey), chain: null };
        const hash = await chain.sendTransaction({
          ...sender,
          to: rig.chain.dollar.asset,
          data,
          gas: 300_000n,
        });
        await chain.waitForTransactionReceipt({ hash });
        return settle();
      };
      t.match(await present((await signTransfer(payer, rig.chain)).header, '192.0.2.1'), answer);
    }
    t.equal(await available(), 1);
    t.same(facilitator.asked, ['verify', 'settle']);
    facilitator.interfere = undefined;
    t.match(await present(await signPaymentHeader(url, ALICE.privateKey), '192.0.2.2'), { status: 200 });
    t.equal(await available(), 0);
    clock.advance(MINUTE_MS);
    await roundIsOver(clock);
    t.equal(await available(), 1, 'the next round puts its number on sale');
  },
);

t.test('a payment under way counts against its address, and no longer once it is settled', async (t) => {
  const { facilitator, present, url } = await setUp(t, ONE_A_DAY);
  let settle = (): void => undefined;
  const mayAnswer = new Promise<void>((resolve) => {
    settle = resolve;
  });
  facilitator.interfere = async (route, answer) => {
    if (route === 'settle') {
      facilitator.interfere = undefined;
      await mayAnswer;
    }
    return answer();
  };
  const paying = present(await signPaymentHeader(url, ALICE.privateKey), '192.0.2.1');
  await until('under way', () => facilitator.asked.includes('settle'));
  const other = await signPaymentHeader(url, BOB.privateKey);
  t.match(await present(other, '192.0.2.1'), { status: 429, body: { error: 'rate_limited' } });
  settle();
  t.match(await paying, { status: 200 });
  t.match(await present(other, '192.0.2.1'), { status: 200 });
});

t.test('a facilitator that cannot be reached costs no address its tries', async (t) => {
  const { facilitator, present, restart, url } = await setUp(t, ONE_A_DAY);
  const header = await signPaymentHeader(url, ALICE.privateKey);
  await facilitator.stop();
  for (const _ of [1, 2]) t.match(await present(header, '192.0.2.1'), { status: 503 });
  await restart();
  t.match(await present(header, '192.0.2.1'), { status: 200 });
});

t.test('a settlement that failed is asked for again, and never answered with a 402', async (t) => {
  const { available, clock, facilitator, isServed, paid, present, url } = await setUp(t);
  const header = await signPaymentHeader(url, ALICE.privateKey);
  const lies: unknown[] = [
    { success: false, errorReason: 'unexpected_settle_error' },
    { success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:84532' },
    { success: true },
  ];
  facilitator.interfere = (route, answer) => (route === 'settle' ? Promise.resolve(lies[0]) : answer());
  t.match(await present(header), { status: 503, body: { error: 'settlement_pending' } });
  t.equal(await available(), 1, 'a number is kept for it');
  for (const lie of lies) {
    facilitator.interfere = (route, answer) => (route === 'settle' ? Promise.resolve(lie) : answer());
    const asked = facilitator.asked.length;
    await until('another attempt', () => {
      clock.advance(MINUTE_MS);
      return facilitator.asked.length > asked;
    });
    t.match(await present(header), { status: 503, body: { error: 'settlement_pending' } });
    t.equal(
      (await recoverToken(url, ALICE.privateKey)).status,
      503,
      'no money, no number, no invitation to pay',
    );
  }
  t.equal(await paid(), 0n);
  facilitator.interfere = undefined;
  await isServed(ALICE);
  t.equal(await paid(), PRICE);
});

t.test(
  'a facilitator that names another transaction that was mined: no 402, and one year for one payment',
  async (t) => {
    const { facilitator, isServed, paid, present, url } = await setUp(t);
    const older = await buyNumber(url, BOB.privateKey);
    t.ok(older.token);
    const block = await rig.chain.control.extend(publicActions).getBlock();
    facilitator.interfere = async (route, answer) => {
      const given = await answer();
      return route === 'settle' ? { success: true, transaction: block.transactions[0] } : given;
    };
    const header = await signPaymentHeader(url, ALICE.privateKey);
    t.not((await present(header)).status, 402);
    await isServed(ALICE);
    t.equal((await present(header)).status, 409);
    t.equal(await paid(), 2n * PRICE);
  },
);

t.test('an authorization that is refused, and settled all the same, buys the year', async (t) => {
  const { facilitator, isServed, paid, present, url } = await setUp(t);
  facilitator.interfere = async (route, answer) => {
    if (route !== 'verify') return answer();
    await answer();
    return { isValid: false, invalidReason: null };
  };
  const header = await signPaymentHeader(url, ALICE.privateKey);
  t.match(await present(header), { status: 503, body: { error: 'settlement_pending' } });
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
  const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, payload.signature];
  await rig.chain.dollar.administer('transferWithAuthorization', args);
  await isServed(ALICE);
  t.equal(await paid(), PRICE);
  t.equal((await present(header)).status, 409, 'and no ticket');
});

t.test(
  'a refused authorization that its payer cancels is not checked any more once the block is safe',
  async (t) => {
    const { clock, databaseUrl, facilitator, present, url } = await setUp(t);
    facilitator.interfere = async (route, answer) =>
      route === 'verify' ? { isValid: false, invalidReason: null } : answer();
    const header = await signPaymentHeader(url, ALICE.privateKey);
    t.match(await present(header), { status: 503 });
    const { nonce } = JSON.parse(Buffer.from(header, 'base64').toString()).payload.authorization;
    const signature = await privateKeyToAccount(ALICE.privateKey).signTypedData({
      domain: {
        name: 'USDC',
        version: '2',
        chainId: rig.chain.chainId,
        verifyingContract: rig.chain.dollar.asset,
      },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: ALICE.address, nonce },
    });
    await rig.chain.dollar.administer('cancelAuthorization', [ALICE.address, nonce, signature]);
    const db = await openTestDatabase(t, databaseUrl);
    const becomes = (wanted: string) =>
      until(wanted, async () => {
        clock.advance(MINUTE_MS);
        const { state } = await db.selectFrom('payments').select('state').executeTakeFirstOrThrow();
        return state === wanted;
      });
    await becomes('reverted');
    await rig.chain.control.mine({ blocks: SAFE_LAG_BLOCKS });
    await becomes('void');
  },
);
