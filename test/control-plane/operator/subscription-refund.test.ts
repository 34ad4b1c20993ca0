// `control-plane subscription end --refund`: the unused share or an amount, refused for good reasons, and sent once.
import t from 'tap';
import { parseAbi } from 'viem';
import { ALICE, PAY_TO } from '../../dev-stack/wallets.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { paidSubscriber } from '../../fixtures/payments/paid-subscriber.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const TIMEOUT = { timeout: 380_000 };
const TRANSFER = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/** A yes that does not name the end that the operator saw. */
const withoutEnd = (id: string) => [
  'subscription',
  'end',
  id,
  '--reason',
  'the SIM died',
  '--refund',
  '--yes',
];

const rig = await createRig();
const { dollar } = rig.chain;
const chain = rig.chain.control;

t.test('the unused share by whole days, shown first, sent once, and kept on record', TIMEOUT, async (t) => {
  const own = await paidSubscriber(t, rig, { agoDays: 165 });
  const { control, id, order, payments, sentBack, url } = own;
  const until = /^until +(\S+ \S+)$/m.exec((await control(['subscription', 'show', id])).stdout)?.[1];
  for (const asking of [order().slice(0, -1), withoutEnd(id), withoutEnd(id).slice(0, -1)])
    t.match(
      await control(asking),
      {
        status: 2,
        stderr: new RegExp(
          `^This would happen:\n${id} ends now, and the payer gets 981.36986\\d USDC \\(199 of 365 days of pay_[0-9a-f]{24}\\) to ${ALICE.address}\nerror: Nothing was done. Run .* --yes --ends-at ${until?.replace(' ', 'T')} to do it`,
        ),
      },
      asking.join(' '),
    );
  t.match(
    await control(order('--refund=899.5').slice(0, -1)),
    { status: 2, stderr: new RegExp(`the payer gets 899.5 USDC \\(pay_[0-9a-f]{24}\\) to ${ALICE.address}`) },
    'an amount of the operator’s own is not that of so many days',
  );
  t.match(await control(order('--refund=981.369863').slice(0, -1)), { stderr: /\(199 of 365 days of pay_/ });
  t.ok(await own.isActive());
  t.equal(await sentBack(), 0n);

  const seen = [...withoutEnd(id), '--ends-at', String(until)];
  const done = await control(seen);
  t.match(done, {
    status: 0,
    stdout: new RegExp(
      `^${id} has ended\npay_[0-9a-f]{24} is refunded: 981.369863 USDC to ${ALICE.address} by 0x[0-9a-f]{64}\n$`,
    ),
  });
  t.equal(await sentBack(), (PRICE * 199n) / 365n);
  t.equal((await recoverToken(url, ALICE.privateKey)).status, 402, 'no subscription');
  t.match(
    await control(order()),
    {
      stdout: done.stdout,
      stderr: `${id} had already ended, and its refund was over: nothing was done now\n`,
    },
    'asked again',
  );
  t.equal((await control(seen)).stdout, done.stdout, 'by the same script');
  t.equal((await control(order('--refund=981.369863'), { REFUND_KEY: '' })).stdout, done.stdout);
  t.match(await control(order('--refund=981')), {
    status: 2,
    stderr: /has ended with a refund of 981.369863 USDC, which cannot be changed/,
  });
  t.equal(await sentBack(), (PRICE * 199n) / 365n, 'once');

  const [payment] = await payments();
  const hash = /by (0x[0-9a-f]{64})/.exec(done.stdout)?.[1];
  t.match(payment, { state: 'refunded', refund_value: '981369863', refund_hash: hash });
  for (const [args, shown] of [
    [['subscription', 'show', id], new RegExp(`refunded +1800 USDC +981.369863 USDC +${hash}$`, 'm')],
    [['subscription', 'show', id, '--json'], new RegExp(`"refund_hash": ?"${hash}"`)],
    [['payment', 'list'], /refunded .*1800 USDC .*981.369863 USDC +the SIM died/],
    [['payment', 'show', String(payment?.id)], new RegExp(`refund transaction +${hash}`)],
    [['audit', 'list', '--json'], /"endSubscription".*?pay_[0-9a-f]{24}: 981.369863 USDC/s],
  ] as const)
    t.match((await control(args)).stdout, shown, args.join(' '));
});

t.test('refused, with the reason: the subscription goes on', TIMEOUT, async (t) => {
  const own = await paidSubscriber(t, rig, { isFinal: false });
  const { account, control, id, order, sentBack } = own;
  t.match(await control(order()), {
    status: 2,
    stderr:
      /^error: Nothing was done: the chain may still revert the transfer of pay_\w+\. The service checks it again/,
  });
  t.match(
    await control(order().slice(0, -1), { REFUND_KEY: '' }),
    {
      status: 2,
      stderr: new RegExp(
        `^This would happen:\n${id} ends now, and the payer gets \\d+\\.\\d+ USDC \\(364 of 365 days of pay_[0-9a-f]{24}\\) to ${ALICE.address}\n` +
          'error: Nothing was done: the refund cannot be sent yet: the chain may still revert .* within a minute: try again after that',
      ),
    },
    'the plan is shown, without a key too',
  );
  await own.db
    .updateTable('payments')
    .set({ next_check_at: new Date('2999-12-31T12:00:00Z') })
    .execute();
  t.match(await control(order().slice(0, -1)), {
    stderr: /The service checks it again at 2999-12-31 12:00Z: try again after that/,
  });
  await own.db.updateTable('payments').set({ next_check_at: null }).execute();
  await own.becomesFinal();
  for (const [amount, problem] of [
    ['0', /--refund: must be more than 0/],
    ['0.000', /must be more than 0/],
    ['-5', /must be an amount, such as 900/],
    ['1,800', /must be an amount, such as 900/],
    ['$90', /must be an amount, such as 900/],
    ['90 USDC', /must be an amount, such as 900/],
    ['1e3', /must be an amount, such as 900/],
    ['0.0000001', /more than 6 digits after the point/],
    ['1800.000001', /may be at most 1800 USDC, which was paid and not refunded before/],
    [id, /must be an amount, such as 900/],
  ] as const)
    t.match(await control(order(`--refund=${amount}`)), { status: /[12]/, stderr: problem }, amount);
  t.match(await control([...order().slice(0, -2), '2024-02-29 12:00Z', '--yes']), {
    status: 2,
    stderr: /Nothing was done: sub_\w+ ends at 20\d\d-\d\d-\d\d \d\d:\d\dZ/,
  });
  t.match(await control(['subscription', 'end', id, '--refund', '5', '--yes']), {
    status: 1,
    stderr: /reason: required/,
  });
  t.match(await control(order(), { REFUND_KEY: '' }), {
    status: 2,
    stderr: /Nothing was done: Give the key of 0x/,
  });
  t.match(await control(order(), { REFUND_KEY: PAY_TO.privateKey }), {
    status: 2,
    stderr: `Nothing was done: The key belongs to ${PAY_TO.address}, but the money went to ${account.address}`,
  });
  t.match(await control(order(), { CHAIN_ID: '8453' }), { status: 1, stderr: /no RPC for chain 84532/ });
  await chain.setBalance({ address: account.address, value: 1n });
  t.match(await control(order()), { status: 2, stderr: /Nothing was done: 0x.* has 1 wei/ });
  await chain.setBalance({ address: account.address, value: 10n ** 18n });
  await dollar.administer('blacklist', [ALICE.address]);
  const blocked = await control(order());
  await dollar.administer('unBlacklist', [ALICE.address]);
  t.match(blocked, { status: 2, stderr: /Nothing was done: The token rejects the transfer: .*blacklisted/ });
  await chain.writeContract({
    account,
    chain: null,
    address: dollar.asset,
    abi: TRANSFER,
    functionName: 'transfer',
    args: [PAY_TO.address, PRICE - 5n],
  });
  t.match(await control(order()), {
    status: 2,
    stderr: /Nothing was done: .* has 5 of 0x.* must be refunded/,
  });
  t.ok(await own.isActive());
  t.equal((await own.payments())[0]?.state, 'applied');
  t.match(await control(order('--refund=0.000005')), { status: 0 }, 'the balance of the account suffices');
  t.equal(await sentBack(), 5n);
});

t.test('renewed, extended and reassigned: each paid year by itself, the newest first', TIMEOUT, async (t) => {
  const own = await paidSubscriber(t, rig, { years: 2, agoDays: 165 });
  const { control, id, order, payments, sentBack } = own;
  const reason = ['--reason', 'sorry'];
  t.match(await control(['subscription', 'extend', id, '--days', '500', ...reason, '--yes']), { status: 0 });
  t.match(await control(['subscription', 'reassign', id, ...reason, '--yes']), { status: 0 });
  await own.seeEnd();
  t.match(await control(order('--refund=3601')), { status: 2, stderr: /at most 3600 USDC/ });
  const done = await control(order());
  t.match(done.stdout, /ended\n.*: 1800 USDC to .*\n.*: 981.369863 USDC to .*\n$/, done.stderr);
  t.equal(await sentBack(), PRICE + (PRICE * 199n) / 365n, 'days of goodwill are worth nothing');
  t.equal((await control(order())).stdout, done.stdout);

  await own.pay();
  await own.becomesFinal();
  t.match(await control(order('--refund=1')), { status: 2, stderr: /Nothing was done: sub_\w+ ends at / });
  t.match(await control(withoutEnd(id)), { status: 2, stderr: /with --yes --ends-at/ });
  t.ok(await own.isActive(), 'an old command does not end the new year');
  await own.seeEnd();
  t.match(await control(order('--refund=1801')), { status: 2, stderr: /at most 1800 USDC/ });
  const again = await control(order('--refund=1'));
  t.match(again.stdout, /ended\n.*: 1 USDC to .*\n$/, 'only the year that she paid since');
  t.equal(await sentBack(), PRICE + (PRICE * 199n) / 365n - PRICE + 1_000_000n);
  t.same(
    (await payments()).map(({ state }) => state),
    ['refunded', 'refunded', 'refunded'],
  );
});

t.test('ended without a refund, and refunded later', TIMEOUT, async (t) => {
  const { control, order, seeEnd, sentBack } = await paidSubscriber(t, rig);
  t.match(await control(order().filter((flag) => flag !== '--refund')), { status: 0 });
  await seeEnd();
  t.match(await control(order()), {
    status: 2,
    stderr: /no whole paid day of sub_.* is left. Give an amount/,
  });
  const done = await control(order('--refund=12.5'));
  t.match(done, { status: 0, stdout: /: 12.5 USDC to/ });
  t.equal((await control(order('--refund=12.5'))).stdout, done.stdout);
  t.match(await control(order('--refund=13')), { status: 2, stderr: /cannot be changed/ });
  t.equal(await sentBack(), 12_500_000n);
});
