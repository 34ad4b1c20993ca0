// `control-plane payment refund` as an operator runs it: refused for good reasons, killed half way, and sent once.
import t from 'tap';
import { parseAbi } from 'viem';
import { ALICE, PAY_TO } from '../../dev-stack/wallets.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { REFUNDED, unhonoured } from '../../fixtures/payments/unhonoured.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { someOf } from '../../fixtures/sweep.ts';

const MINUTE_MS = 60_000;
const TRANSFER = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
const TIMEOUT = { timeout: 380_000 };

const rig = await createRig();
const { dollar } = rig.chain;
const chain = rig.chain.control;

t.test('refused, with the reason, and nothing is begun', TIMEOUT, async (t) => {
  const { account, control, ids, order, stateOf } = await unhonoured(t, rig, { isSafe: false });
  const [id] = ids as [string];
  t.match(await control(order(id)), { status: 2, stderr: /a block that a reorganization may still revert/ });
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  const [list, without, keyless, stranger, elsewhere] = await Promise.all([
    control(['payment', 'list', '--stuck']),
    control(order(id).slice(0, -1)),
    control(order(id), { REFUND_KEY: '' }),
    control(order(id), { REFUND_KEY: PAY_TO.privateKey }),
    control(order(id), { CHAIN_ID: '8453' }),
  ]);
  t.match(list.stdout, new RegExp(`^${id} +reverted .* 1800 USDC +0x90F7…b906 .*no number is free$`, 'm'));
  t.match(without, { status: 2, stderr: /--yes to send 1800 USDC to 0x90F7/ });
  t.match(keyless, { status: 2, stderr: /Give the key of 0x/ });
  t.match(stranger, {
    status: 2,
    stderr: `The key belongs to ${PAY_TO.address}, but the money went to ${account.address}`,
  });
  t.match(elsewhere, { status: 1, stderr: /no RPC for chain 84532/ });
  await chain.setBalance({ address: account.address, value: 1n });
  t.match(await control(order(id)), { status: 2, stderr: /has 1 wei, and the gas may cost \d+ wei/ });
  await chain.setBalance({ address: account.address, value: 10n ** 18n });
  await dollar.administer('blacklist', [ALICE.address]);
  const blocked = await control(order(id));
  await dollar.administer('unBlacklist', [ALICE.address]);
  t.match(blocked, { status: 2, stderr: /The token rejects the transfer: .*blacklisted/ });
  await chain.writeContract({
    account,
    chain: null,
    address: dollar.asset,
    abi: TRANSFER,
    functionName: 'transfer',
    args: [PAY_TO.address, 2n * PRICE - 5n],
  });
  t.match(await control(order(id)), {
    status: 2,
    stderr: /has 5 of 0x.*, and 1800000000 must be refunded/,
  });
  t.equal(await stateOf(id), 'reverted');
});

for (const isEmbedded of someOf(t, [false, true], 1)) {
  const database = isEmbedded ? 'the embedded database, through the service' : 'Postgres';
  t.test(`killed before the broadcast, and sent once, on ${database}`, TIMEOUT, async (t) => {
    const { clock, control, operator, headers, ids, killedAt, order, present, sentBack, stateOf } =
      await unhonoured(t, rig, { isEmbedded });
    const [id] = ids as [string];
    await killedAt(id, 'eth_sendRawTransaction', 1, 'before');
    t.equal(await stateOf(id), 'refunding');
    t.equal(await sentBack(), 0n);
    for (let minute = 0; minute < 3; minute += 1) clock.advance(MINUTE_MS);
    t.equal((await present(headers[0] as string)).status, 409, 'no ticket while it goes back');
    const finished = await control(order(id), { REFUND_KEY: '' });
    t.match(finished, { status: 0, stdout: REFUNDED, stderr: '' }, 'without the key: it is signed already');
    t.equal(await sentBack(), PRICE);
    t.equal((await control(order(id))).stdout, finished.stdout, 'asked again');
    t.equal(await sentBack(), PRICE, 'once');
    clock.advance(5 * MINUTE_MS);
    t.equal((await present(headers[0] as string)).status, 409);
    const { events } = await operator.call('payment', { id });
    t.same(
      events.map(({ state }) => state),
      ['claimed', 'in_flight', 'reverted', 'reverted', 'refunding', 'refunded'],
    );
    const shown = (await control(['payment', 'show', id])).stdout;
    t.match(shown, /refunding +no number was free +0x[0-9a-f]{64}$/m);
    t.match(shown, /reverted +the money arrived, but no number is free +0x[0-9a-f]{64}$/m);
    t.notMatch(shown, /0x[0-9a-f]{130}/, 'no signature and no raw transaction');
  });
}
