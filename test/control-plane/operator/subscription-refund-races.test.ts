// Ends with a refund that are killed anywhere, asked for by two at once, or rejected by the token: the money goes back once, and is not forgotten.
import t from 'tap';
import { ALICE } from '../../dev-stack/wallets.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { paidSubscriber } from '../../fixtures/payments/paid-subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { someOf } from '../../fixtures/sweep.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 380_000 };
/** Refund of a year that began just now, and of one that has not begun. */
const OWED = (PRICE * 364n) / 365n + PRICE;

const rig = await createRig();
const { dollar } = rig.chain;

/** Where an end is killed, and the states of its payments then. */
const KILLS = [
  ['eth_getBalance', 1, 'after', ['applied', 'applied']],
  ['eth_getBalance', 3, 'after', ['refunding', 'refunding']],
  ['eth_sendRawTransaction', 1, 'before', ['refunding', 'refunding']],
  ['eth_sendRawTransaction', 1, 'after', ['refunding', 'refunding']],
  ['eth_sendRawTransaction', 2, 'before', ['refunding', 'refunded']],
] as const;
for (const [method, nth, fate, states] of someOf(t, KILLS, 3))
  t.test(`killed ${fate} ${method} ${nth}: the same command finishes it`, TIMEOUT, async (t) => {
    const { control, db, id, isActive, killedAt, order, payments, sentBack } = await paidSubscriber(t, rig, {
      years: 2,
    });
    await killedAt(method, nth, fate);
    t.same((await payments()).map(({ state }) => state).sort(), [...states].sort());
    const isDecided = states[0] === 'refunding';
    t.equal(await isActive(), !isDecided, 'it has ended where the refund is decided, and only there');
    if (isDecided) {
      const open = states.filter((state) => state === 'refunding').length;
      const { stdout } = await control(['payment', 'list', '--stuck']);
      t.equal(stdout.match(/refunding/g)?.length, open, 'none is forgotten');
      t.match(await control(order().slice(0, -1)), {
        status: 2,
        stderr: /the rest of its refund is sent: [\s\S]*--yes to do it/,
      });
    }
    const finished = await control(order());
    t.match(finished, { status: 0, stdout: new RegExp(`^${id} has ended\n(pay_.* is refunded.*\n){2}$`) });
    t.equal(await sentBack(), OWED);
    t.equal((await control(order())).stdout, finished.stdout);
    t.equal(await sentBack(), OWED, 'once');
    t.equal((await db.selectFrom('refunds').select('payment_id').execute()).length, 2);
  });

t.test('two operators at once: one end, one refund, and both see it', TIMEOUT, async (t) => {
  const { control, controlApart, line, operator, order, sentBack } = await paidSubscriber(t, rig);
  /** Both have the same plan before either ends it. */
  let waiting = 0;
  let estimates = 0;
  let isDone = false;
  line.interfere = async (method, forward) => {
    if (method === 'eth_getBalance') {
      waiting += 1;
      await until('the other', () => waiting >= 2, 30_000);
    }
    if (method !== 'eth_estimateGas') return forward();
    estimates += 1;
    // Both check, then both are about to sign: the second one signs when the money has left.
    if (estimates <= 2) await until('both check', () => estimates >= 2, 30_000);
    else if (estimates === 3) await until('both are about to sign', () => estimates >= 4, 30_000);
    else await until('the other is done', () => isDone, 30_000);
    return forward();
  };
  const both = [control, controlApart].map(async (run) => {
    const answer = await run(order(), { RPC_URL: line.url });
    isDone = true;
    return answer;
  });
  const answers = await Promise.all(both);
  t.equal(estimates, 4);
  t.same(
    answers.map(({ status }) => status),
    [0, 0],
    answers.map(({ stderr }) => stderr).join(),
  );
  t.equal(answers[0]?.stdout, answers[1]?.stdout, 'by the same transaction');
  t.equal(await sentBack(), (PRICE * 364n) / 365n);
  const { rows } = await operator.call('auditLog', { limit: 50 });
  const ends = rows.filter(({ action }) => action === 'endSubscription');
  t.equal(ends.filter(({ result }) => result === 'ok').length, 1, 'one has ended it');
});

t.test('two operators with two amounts: the first one counts', TIMEOUT, async (t) => {
  const { control, controlApart, order, line, sentBack } = await paidSubscriber(t, rig);
  let waiting = 0;
  line.interfere = async (method, forward) => {
    if (method !== 'eth_getBalance') return forward();
    waiting += 1;
    await until('the other', () => waiting >= 2, 30_000);
    return forward();
  };
  const env = { RPC_URL: line.url };
  const answers = await Promise.all([
    control(order('--refund=10'), env),
    controlApart(order('--refund=20'), env),
  ]);
  t.same(answers.map(({ status }) => status).sort(), [0, 2], answers.map(({ stderr }) => stderr).join());
  t.match(answers.find(({ status }) => status === 2)?.stderr, /Nothing was done: sub_.* has changed/);
  t.equal(await sentBack(), answers[0].status === 0 ? 10_000_000n : 20_000_000n);
});

t.test(
  'the token rejects the transfer in its block: owed, shown, and sent once it can be',
  TIMEOUT,
  async (t) => {
    const { control, isActive, line, order, payments, sentBack } = await paidSubscriber(t, rig);
    line.interfere = async (method, forward) => {
      if (method === 'eth_sendRawTransaction') await dollar.administer('blacklist', [ALICE.address]);
      return forward();
    };
    const mined = await control(order(), { RPC_URL: line.url });
    line.interfere = undefined;
    t.match(mined, {
      status: 3,
      stderr:
        /has ended, and its refund is not finished: 0x[0-9a-f]{64} was mined and moved nothing.*--sign-anew/,
    });
    t.notOk(await isActive());
    t.match(await control(['payment', 'list', '--stuck']), { stdout: /refunding .* 1795.068493 USDC/ });
    const signAnew = [...order(), '--sign-anew'];
    t.match(await control(signAnew), { status: 3, stderr: /a block that a reorganization may still revert/ });
    await rig.chain.control.mine({ blocks: SAFE_LAG_BLOCKS });
    t.match(await control(signAnew), { status: 3, stderr: /The token rejects the transfer: .*blacklisted/ });
    await dollar.administer('unBlacklist', [ALICE.address]);
    t.match(await control(order()), { status: 3, stderr: /--sign-anew/ });
    t.equal(await sentBack(), 0n);
    t.match(await control(signAnew), { status: 0, stdout: /1795.068493 USDC/ });
    t.match(await control(['payment', 'refund', String((await payments())[0]?.id), '--reason', 'x']), {
      status: 0,
    });
    t.equal(await sentBack(), (PRICE * 364n) / 365n, 'once');
  },
);

t.test(
  'renewed before the refund is finished: a repetition does not end the new year',
  TIMEOUT,
  async (t) => {
    const own = await paidSubscriber(t, rig);
    const { control, isActive, line, order, payments, sentBack } = own;
    line.interfere = async (method, forward) => {
      if (method === 'eth_sendRawTransaction') await dollar.administer('blacklist', [ALICE.address]);
      return forward();
    };
    const ended = await control(order(), { RPC_URL: line.url });
    line.interfere = undefined;
    await dollar.administer('unBlacklist', [ALICE.address]);
    const [owed] = await payments();
    const finish = ['payment', 'refund', String(owed?.id)];
    t.match(ended, {
      status: 3,
      stderr: new RegExp(`Run "[^"]*control-plane.* ${finish.join(' ')} --sign-anew"`),
    });
    await own.pay();
    await own.becomesFinal();
    const before = await sentBack();
    for (const repetition of [
      order(),
      order().slice(0, -1),
      [...order(), '--sign-anew'],
      order('--refund=5'),
    ])
      t.match(
        await control(repetition),
        {
          status: 2,
          stdout: '',
          stderr: new RegExp(
            `^error: Nothing was done: the refund of payment ${owed?.id} is not finished\\. First run "[^"]*control-plane.* ${finish.join(' ')}"`,
          ),
        },
        repetition.join(' '),
      );
    t.ok(await isActive());
    t.equal(await sentBack(), before);
    t.match(await control([...finish, '--reason', 'the SIM died', '--yes', '--sign-anew']), { status: 0 });
    t.equal(await sentBack(), before + (PRICE * 364n) / 365n);
    t.ok(await isActive(), 'the new year goes on');
    await own.seeEnd();
    t.match(
      await control(order('--refund=5')),
      { status: 0, stdout: / has ended\npay_.*: 5 USDC to .*\n$/ },
      'a new end',
    );
    t.notOk(await isActive());
    t.equal(await sentBack(), before + (PRICE * 364n) / 365n + 5_000_000n);
  },
);

t.test(
  'the payer stays blocked: one refund is closed, and the end counts as finished',
  TIMEOUT,
  async (t) => {
    const { control, id, line, order, payments, sentBack } = await paidSubscriber(t, rig, { years: 2 });
    // The first of two refunds is sent before the token blocks the payer.
    let sent = 0;
    line.interfere = async (method, forward) => {
      if (method === 'eth_sendRawTransaction' && ++sent === 2)
        await dollar.administer('blacklist', [ALICE.address]);
      return forward();
    };
    t.match(await control(order(), { RPC_URL: line.url }), {
      status: 3,
      stderr: /was mined and moved nothing/,
    });
    line.interfere = undefined;
    await rig.chain.control.mine({ blocks: SAFE_LAG_BLOCKS });
    const open = (await payments()).find(({ state }) => state === 'refunding');
    const close = ['payment', 'close', String(open?.id), '--reason', 'the issuer blocked the payer', '--yes'];
    t.match(await control(close), { status: 0, stdout: /is closed: .* were not sent/ });
    await dollar.administer('unBlacklist', [ALICE.address]);
    const before = await sentBack();
    const again = await control([...order(), '--sign-anew']);
    t.match(again, {
      status: 0,
      stdout: new RegExp(
        `^${id} has ended\n(pay_.* is (refunded: .*|closed: an operator gave up its refund)\n){2}$`,
      ),
    });
    t.equal(await sentBack(), before, 'nothing is sent after that');
    t.same((await payments()).map(({ state }) => state).sort(), ['closed', 'refunded']);
    const shares = (await payments()).map(({ refund_value }) => BigInt(String(refund_value)));
    t.equal(
      shares.reduce((sum, share) => sum + share, 0n),
      OWED,
      'sent or given up: all that was owed',
    );
    t.equal(before, OWED - BigInt(String(open?.refund_value)));
  },
);
