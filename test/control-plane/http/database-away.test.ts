// A Postgres that is shut down, hangs, or ends what is under way: every path says so, in time, and nothing about money is said wrongly.
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { isUnavailable } from '#control-plane/store/database/availability.ts';
import { BOB, PAY_TO } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { FAR_END, refusedUpgrade, telephone } from '../../fixtures/agents/telephone.ts';
import { toolRequest } from '../../fixtures/agents/tool-client.ts';
import { withClient } from '../../fixtures/agents/waiting-subscriber.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { startPostgres } from '../../fixtures/database/postgres.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken, signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ openServer: () => startPostgres() });
const { postgres } = rig;
const UNAVAILABLE = { status: 503, body: { error: 'unavailable', message: String, request_id: String } };
const MINUTE_MS = 60_000;

const paid = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

type Telephone = Awaited<ReturnType<typeof telephone>>;

const present = (ask: Telephone['ask'], header: string) =>
  ask('/subscribe', '', { Authorization: '', 'X-PAYMENT': header });

/** Asks on every kind of path. */
async function askAll(phone: Telephone, payment: string) {
  const { ask, headers, number, url } = phone;
  const strange = { Authorization: `Bearer simrack_${'A'.repeat(43)}` };
  const tool = (name: string) => {
    const { body, headers: more } = toolRequest('tools/call', { name, arguments: {} }, strange);
    return ask('/mcp', body, more);
  };
  return {
    answers: [
      await ask('/availability'),
      await ask('/waitlist', { email: 'someone@example.com' }),
      await ask('/auth/nonce', {}),
      await ask('/number', undefined, strange),
      await ask('/sms/send', { to: FAR_END, body: 'hi' }),
      await ask('/sms/receive'),
      await ask('/sms/messages'),
      await phone.dial(),
      await ask('/voice/calls'),
      await present(ask, payment),
      await refusedUpgrade(url, `/voice/presence/${number}`, strange),
    ],
    bearerTool: await tool('get_number'),
    publicTool: await tool('check_availability'),
    good: headers,
  };
}

/** Alice with her number, and a number for Bob. */
const setUp = (t: Test, service: Parameters<typeof rig.start>[1] = {}) =>
  telephone(t, rig, { slots: [slotAt(1), slotAt(2)], service });

t.test('Postgres is shut down and started again', async (t) => {
  const phone = await setUp(t);
  await phone.ask('/number');
  const payment = await signPaymentHeader(phone.url, BOB.privateKey);
  const before = await paid();
  await postgres.goDown();
  const { answers, bearerTool, publicTool } = await askAll(phone, payment);
  await postgres.goUp();
  for (const answer of answers) {
    t.match(answer, UNAVAILABLE);
    t.match(answer.headers['retry-after'], /^\d+$/);
    t.notMatch(JSON.stringify(answer.body), /database|postgres|terminat|ECONN|charged/i);
  }
  t.match(bearerTool, { status: 503, body: { error: { data: { error: 'unavailable' } } } });
  t.match(bearerTool.headers['retry-after'], /^\d+$/);
  t.match(publicTool.body['result'], {
    isError: true,
    structuredContent: { error: 'unavailable', retry_after: Number },
  });

  await until('it answers', async () => (await phone.ask('/availability')).status === 200);
  t.equal((await phone.ask('/number')).status, 200);
  t.equal(await paid(), before);
  // A node that was linked comes back by itself; this one is made of frames.
  await rig.connect(t, phone.url, { slots: [slotAt(1), slotAt(2)] });
  t.match(await present(phone.ask, payment), { status: 200, body: { renewed: false } }, 'the same payment');
});

t.test('a connection that ends in the middle of a request', async (t) => {
  const { ask, databaseUrl } = await setUp(t);
  await withClient(databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('lock table waitlist');
    const answer = ask('/waitlist', { email: 'someone@example.com' });
    await until('it waits for the lock', async () => {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    t.match(await answer, UNAVAILABLE);
    await client.query('rollback');
  });
  t.equal((await ask('/waitlist', { email: 'someone@example.com' })).status, 200);
});

t.test('a server that hangs delays no request for longer than the time limit of a statement', async (t) => {
  const phone = await setUp(t);
  await phone.ask('/availability');
  postgres.setFrozen(true);
  t.teardown(() => postgres.setFrozen(false));
  const answers = await Promise.all(
    Array.from({ length: 15 }, () => phone.ask('/waitlist', { email: 'someone@example.com' })),
  );
  for (const answer of answers) t.match(answer, UNAVAILABLE);
  postgres.setFrozen(false);
  await until('it answers', async () => (await phone.ask('/availability')).status === 200);
});

t.test('a payment whose transfer is on its way when the database goes is pending', async (t) => {
  const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
  const clock = new ManualClock();
  const phone = await setUp(t, { rpcUrl: rpc.url, clock, heartbeatMs: 1_000 * MINUTE_MS });
  const payment = await signPaymentHeader(phone.url, BOB.privateKey);
  const before = await paid();
  rpc.interfere = async (method, forward) => {
    if (method === 'eth_sendRawTransaction') await postgres.setAway(phone.databaseUrl, true);
    return forward();
  };
  const answer = await present(phone.ask, payment);
  t.match(answer, { status: 503, body: { error: 'settlement_pending' } });
  t.equal((await paid()) - before, PRICE, 'it has moved');
  const again = await present(phone.ask, payment);
  t.match(again, UNAVAILABLE);
  t.notMatch(again.body['message'], /charged/, 'the message does not mention money');
  rpc.interfere = undefined;
  await postgres.setAway(phone.databaseUrl, false);
  await until('it is applied', async () => {
    clock.advance(MINUTE_MS);
    return (await recoverToken(phone.url, BOB.privateKey)).status === 200;
  });
  t.match(await present(phone.ask, payment), { status: 409, body: { error: 'payment_already_used' } });
  t.equal((await paid()) - before, PRICE);
});

t.test('a full pool', async (t) => {
  const { url, databaseUrl } = await rig.start(t, { databaseConnections: 1 });
  const holder = new Client({ connectionString: databaseUrl });
  await holder.connect();
  t.teardown(() => holder.end());
  await holder.query('begin');
  await holder.query('lock table waitlist');
  const ask = () => fetch(`${url}/waitlist`, jsonPost({ email: 'someone@example.com' }));
  const [first, second] = await Promise.all([ask(), ask()]);
  t.match([await first.json(), await second.json()], [{ error: 'unavailable' }, { error: 'unavailable' }]);
  await holder.query('rollback');
  t.equal((await ask()).status, 200);
});

t.test('errors that mean that the database is unavailable, and errors that do not', async (t) => {
  const coded = (code: string) => Object.assign(new Error('said'), { code });
  const away = ['08006', '08P01', '53300', '57P01', '57P02', '57P03', '57014', '25006', 'ECONNREFUSED'];
  for (const code of [...away, 'ECONNRESET', 'ETIMEDOUT', 'EPIPE']) t.ok(isUnavailable(coded(code)), code);
  for (const code of ['23505', '42P01', '40P01', '22021', 'P0001', 'ENOENT', 'ERR_INVALID_ARG_TYPE'])
    t.notOk(isUnavailable(coded(code)), code);
  for (const message of ['Connection terminated unexpectedly', 'Query read timeout', 'timeout expired'])
    t.ok(isUnavailable(new Error(message)), message);
  t.notOk(isUnavailable(new TypeError('x is not a function')));
  t.notOk(isUnavailable(undefined));
});
