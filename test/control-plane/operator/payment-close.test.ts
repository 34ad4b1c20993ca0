// `control-plane payment close`: a refund that the token rejects is given up for good, and never made after that.
import t from 'tap';
import type { Hex } from 'viem';
import { ALICE } from '../../dev-stack/wallets.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { REFUNDED, unhonoured } from '../../fixtures/payments/unhonoured.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { addOperator, signedIn } from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 380_000 };
const rig = await createRig();
const { dollar } = rig.chain;
const chain = rig.chain.control;
const block = () => dollar.administer('blacklist', [ALICE.address]);
const unblock = () => dollar.administer('unBlacklist', [ALICE.address]);
t.teardown(unblock);

const closing = (id: string) => ['payment', 'close', id, '--reason', 'the issuer blocked the payer', '--yes'];
const CLOSED =
  /is closed: 1800 USDC to 0x90F79bf6EB2c4f870365E785982E1f101E93b906 were not sent, and stay in 0x/;

/** The refund transaction is mined and moves nothing, because the token blocks the payer just before it. */
async function sendBlocked(
  { control, operatorLine, order }: Awaited<ReturnType<typeof unhonoured>>,
  id: string,
) {
  operatorLine.interfere = async (method, forward) => {
    if (method === 'eth_sendRawTransaction') await block();
    return forward();
  };
  const ran = await control(order(id), { RPC_URL: operatorLine.url });
  operatorLine.interfere = undefined;
  return ran;
}

t.test('no refund was signed: killed anywhere, closed once, and never refunded', TIMEOUT, async (t) => {
  const stuck = await unhonoured(t, rig);
  const {
    account,
    control,
    controlApart,
    env,
    headers,
    operator,
    operatorLine,
    order,
    present,
    sentBack,
    stateOf,
  } = stuck;
  const [id] = stuck.ids as [string];
  t.match(await control(closing(id)), {
    status: 2,
    stderr: /the token would make the transfer now. Run "[^"]*control-plane.* payment refund/,
  });
  await block();
  t.match(await control(order(id)), { status: 2, stderr: /The token rejects the transfer/ });
  t.match(await control(closing(id).slice(0, -1)), {
    status: 2,
    stderr: /--yes to give up the refund of 1800 USDC/,
  });
  t.match(await control(closing(id), { CHAIN_ID: '8453' }), { status: 1, stderr: /no RPC for chain 84532/ });
  t.equal(await stateOf(id), 'reverted');
  const asked = operatorLine.asked.length;
  t.match(await control(closing(id).slice(0, -1), { RPC_URL: operatorLine.url }), { status: 2 });
  const calls = operatorLine.asked.slice(asked);
  for (const [index, method] of calls.entries()) {
    let kill = (): unknown => undefined;
    let seen = 0;
    operatorLine.interfere = async (_, forward) => {
      if (seen++ !== index) return forward();
      kill();
      throw new Error('no client gets the answer');
    };
    const ran = await runProgram(
      'control-plane',
      closing(id),
      { ...env, RPC_URL: operatorLine.url },
      (child) => {
        kill = () => child.kill('SIGKILL');
      },
    );
    t.equal(ran.status, null, `killed at ${method}`);
    t.equal(await stateOf(id), 'reverted');
  }
  operatorLine.interfere = undefined;

  const [one, other] = await Promise.all([controlApart(closing(id)), controlApart(closing(id))]);
  t.match(one, { status: 0, stdout: CLOSED, stderr: '' });
  t.equal(other.stdout, one.stdout, 'two at once');
  t.equal((await control(closing(id))).stdout, one.stdout, 'and again');
  const { events, ...row } = await operator.call('payment', { id });
  t.match(row, { state: 'closed', refund_value: String(PRICE), refund_hash: null, subscription_id: null });
  t.equal(events.filter(({ state }) => state === 'closed').length, 1);
  t.match(
    events.at(-1)?.why,
    /^the issuer blocked the payer \(The token rejects the transfer: .*blacklisted\)$/,
  );
  const { rows } = await operator.call('auditLog', { limit: 50 });
  const audited = rows.find(({ action }) => action === 'closePayment');
  t.match(audited, { subject: id, result: 'ok', detail: { reason: 'the issuer blocked the payer' } });
  t.notMatch((await control(['payment', 'list', '--stuck'])).stdout, id);
  t.match(
    (await control(['payment', 'list'])).stdout,
    new RegExp(`^${id} +closed .* 1800 USDC not sent`, 'm'),
  );

  await unblock();
  for (const args of [order(id), [...order(id), '--sign-anew'], ['payment', 'void', id]])
    t.match(await control(args), { status: 2 }, args.join(' '));
  t.match(await control(order(id)), { stderr: /is closed: an operator gave up its refund for good/ });
  stuck.clock.advance(5 * 60_000);
  t.match(await (await present(headers[0] as string)).json(), { error: 'payment_already_used' });
  t.equal(await stateOf(id), 'closed');
  t.equal(await sentBack(), 0n);
  t.equal(await dollar.balanceOf(account.address), 2n * PRICE, 'the money of both payers is where it came');
});

t.test('a refund that was mined and reverted: closed only when its block is safe', TIMEOUT, async (t) => {
  const stuck = await unhonoured(t, rig);
  const { control, env, operator, order, sentBack, stateOf } = stuck;
  const [id] = stuck.ids as [string];
  t.match(await sendBlocked(stuck, id), { status: 3, stderr: /was mined and moved nothing/ });
  t.match(await control(closing(id)), { status: 2, stderr: /0x[0-9a-f]{64} may still refund it/ });
  t.equal(await stateOf(id), 'refunding');
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  t.match(await control(closing(id)), { status: 0, stdout: CLOSED });
  await unblock();
  const db = await openTestDatabase(t, String((env as Record<string, string>)['DATABASE_URL']));
  const { raw_transaction: raw } = await db.selectFrom('refunds').selectAll().executeTakeFirstOrThrow();
  await t.rejects(chain.sendRawTransaction({ serializedTransaction: raw as Hex }), 'its nonce is used');
  t.match(await control([...order(id), '--sign-anew']), { status: 2, stderr: /gave up its refund for good/ });
  t.equal(await sentBack(), 0n);
  t.match(await operator.call('payment', { id }), { state: 'closed', refund_value: String(PRICE) });
});

t.test(
  'in the console: asked once more, refused while the token would pay, then closed',
  TIMEOUT,
  async (t) => {
    const { consoleUrl, databaseUrl, ids, operator, sentBack, stateOf } = await unhonoured(t, rig, {
      service: { consolePort: 0 },
    });
    const [id] = ids as [string];
    const ann = await signedIn(String(consoleUrl), await addOperator(String(databaseUrl), 'ann'));
    t.match(await ann.page(`/payments/${id}`), /Give up the refund/);
    t.match(
      await ann.page(`/actions/close-payment?id=${id}`),
      /The money stays in the account that was paid/,
    );
    const close = (reason: string) => ann.post('/actions/close-payment', { id, reason });
    const refused = await close('the issuer blocked the payer');
    t.equal(refused.status, 409);
    t.match(await refused.text(), /the token would make the transfer now/);
    await block();
    t.equal((await close(' ')).status, 400, 'no reason');
    t.equal(await stateOf(id), 'reverted');
    t.equal((await close('the issuer blocked the payer')).status, 303);
    t.equal(await stateOf(id), 'closed');
    const page = await ann.page(`/payments/${id}?done=close-payment`);
    t.match(page, /The refund is given up/);
    t.match(page, /1800 USDC not sent/);
    t.notMatch(page, /actions\/(close-payment|refund)/, 'nothing is left to do');
    await unblock();
    t.equal(await sentBack(), 0n);
    const { rows } = await operator.call('auditLog', { limit: 50 });
    t.match(
      rows.find(({ action, result }) => action === 'closePayment' && result === 'ok'),
      { actor: /ann/, subject: id },
    );
  },
);

t.test('a refund that may still be mined is not given up', TIMEOUT, async (t) => {
  const stuck = await unhonoured(t, rig);
  const { control, killedAt, order, sentBack, stateOf } = stuck;
  const [id] = stuck.ids as [string];
  await killedAt(id, 'eth_sendRawTransaction', 1, 'before');
  await block();
  await chain.mine({ blocks: 2 * SAFE_LAG_BLOCKS });
  t.match(await control(closing(id)), { status: 2, stderr: /may still refund it/ });
  t.equal(await stateOf(id), 'refunding');
  await unblock();
  t.match(await control(order(id)), { status: 0, stdout: REFUNDED });
  t.match(await control(closing(id)), { status: 2, stderr: /its money was sent already/ });
  t.equal(await sentBack(), PRICE);
});

t.test('another operator signs a new refund meanwhile: not closed, and refunded once', TIMEOUT, async (t) => {
  const stuck = await unhonoured(t, rig);
  const { control, operatorLine, order, sentBack, stateOf } = stuck;
  const [id] = stuck.ids as [string];
  await sendBlocked(stuck, id);
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  // The close has its proof; before it is stored, the payer is not blocked any more and the refund is sent.
  let isHeld = false;
  let isReleased = false;
  operatorLine.interfere = async (method, forward) => {
    const answer = await forward();
    if (method !== 'eth_call' || isHeld || !JSON.stringify(answer).includes('blacklisted')) return answer;
    isHeld = true;
    await until('the other', () => isReleased, 60_000);
    return answer;
  };
  const closes = control(closing(id), { RPC_URL: operatorLine.url, RPC_TIMEOUT_MS: '60000' });
  await until('the proof', () => isHeld, 60_000);
  await unblock();
  t.match(await control([...order(id), '--sign-anew']), { status: 0, stdout: REFUNDED });
  isReleased = true;
  t.match(await closes, { status: 2, stderr: /Nothing was done: pay_.* is now refunded/ });
  t.equal(await stateOf(id), 'refunded');
  t.equal(await sentBack(), PRICE);
});
