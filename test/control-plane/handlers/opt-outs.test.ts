// A recipient that answers STOP gets no further text from that subscription, until it answers START.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { BOB } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { received, SLOT, subscriber } from '../../fixtures/agents/subscriber.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const PEER = '+13105550188';
const OTHER = '+13105550199';

async function setUp(t: Test) {
  const subscribed = await subscriber(t, rig);
  /** Resolves once the text is committed. `late`: seconds before now at which it was sent. */
  const receive = async (body: string, { from = PEER, late = 0 } = {}) => {
    const sentAt = new Date(Date.now() - late * 1000).toISOString();
    await subscribed.node.report({ ...received(body, from), sent_at: sentAt });
  };
  const text = async (to = PEER) => {
    const { body, status } = await subscribed.send({ to, body: 'hello' });
    return status === 200 ? 'sent' : `${status} ${body['error']}`;
  };
  return { ...subscribed, receive, text };
}

const BLOCKED = '403 recipient_opted_out';

t.test('STOP blocks texts to its sender only, and START allows them again', async (t) => {
  const { node, receive, text, send, get, history } = await setUp(t);
  t.equal(await text(), 'sent');
  await receive('Stop.');
  t.equal(await text(), BLOCKED);
  t.match((await send({ to: PEER, body: 'x' })).body, { message: /START/ });
  t.equal(await text(OTHER), 'sent');
  t.equal(node.commands('send_sms').length, 2, 'nothing reached the node');
  await receive('please start again');
  t.equal(await text(), BLOCKED, 'that is no keyword');
  await receive('START');
  t.equal(await text(), 'sent');
  t.same(
    ((await get('/sms/receive')).body['messages'] as { opt_out_type: string }[]).map(
      (row) => row.opt_out_type,
    ),
    ['stop', null, 'start'],
  );
  t.match(await history('?direction=received'), [
    { opt_out_type: 'start' },
    { opt_out_type: null },
    { opt_out_type: 'stop' },
  ]);
  t.match(await history('?direction=sent&limit=1'), [{ opt_out_type: null }]);
});

t.test('YES allows texts only for a recipient that stopped them', async (t) => {
  const { receive, text, history } = await setUp(t);
  await receive('yes');
  t.equal(await text(), 'sent');
  await receive('unsubscribe');
  t.equal(await text(), BLOCKED);
  await receive('Yes!');
  t.equal(await text(), 'sent');
  await receive('yes');
  t.match(await history('?direction=received'), [
    { opt_out_type: null },
    { opt_out_type: 'start' },
    { opt_out_type: 'stop' },
    { opt_out_type: null },
  ]);
});

t.test('a national number is the same sender; short codes and names do no harm', async (t) => {
  const { receive, text } = await setUp(t);
  await receive('STOP', { from: '72975' });
  await receive('STOP', { from: 'My Bank' });
  await receive('STOP', { from: '' });
  t.equal(await text(), 'sent');
  await receive('STOP', { from: '3105550188' });
  t.equal(await text(), BLOCKED);
  await receive('start', { from: '13105550188' });
  t.equal(await text(), 'sent');
});

t.test('keywords count in the order in which they were sent, however late they are delivered', async (t) => {
  const { receive, text } = await setUp(t);
  await receive('START', { late: 2 });
  await receive('STOP', { late: 5 });
  t.equal(await text(), 'sent', 'it was sent before START');
  await receive('STOP', { late: 1 });
  t.equal(await text(), BLOCKED);
  await receive('START', { late: 3 });
  t.equal(await text(), BLOCKED, 'it was sent before STOP');
});

t.test(
  'a STOP with the stamp of tomorrow, by a wrong clock or a lie, ends with the next START',
  async (t) => {
    const { receive, text } = await setUp(t);
    await receive('STOP', { late: -86_400 });
    t.equal(await text(), BLOCKED);
    await receive('START', { late: -86_000 });
    t.equal(await text(), 'sent');
  },
);

t.test('deleting the message, and another token, change nothing; a repeated fact does neither', async (t) => {
  const { url, headers, node, receive, text } = await setUp(t);
  await receive('STOP');
  const fact = received('START');
  node.sendFact(1, fact);
  await fetch(`${url}/sms/messages`, { method: 'DELETE', headers });
  t.equal(await text(), BLOCKED);
});

t.test('at every instance, from the commit of STOP on', async (t) => {
  const { databaseUrl, headers, receive, text } = await setUp(t);
  const { url: other } = await rig.start(t, { databaseUrl });
  const there = async () =>
    (await fetch(`${other}/sms/send`, jsonPost({ to: PEER, body: 'hello' }, headers))).status;
  t.equal(await there(), 200);
  await receive('STOP');
  t.equal(await there(), 403);
  t.equal(await text(), BLOCKED);
});

t.test('a STOP that is committed while a send waits for its turn wins', async (t) => {
  const { databaseUrl, node, text, number } = await setUp(t);
  const db = await openTestDatabase(t, databaseUrl);
  const sub = await db
    .selectFrom('subscriptions')
    .select('id')
    .where('number', '=', number)
    .executeTakeFirstOrThrow();
  let sending: Promise<string> | undefined;
  await db.transaction().execute(async (trx) => {
    await sql`select from subscriptions where id = ${sub.id} for no key update`.execute(trx);
    sending = text();
    await until('it waits', waitsForLock(db));
    await sql`insert into opt_outs values (${sub.id}, ${PEER}, true, now())`.execute(trx);
  });
  t.equal(await sending, BLOCKED);
  t.equal(node.commands('send_sms').length, 0);
});

t.test('a number that is sold again starts clean', async (t) => {
  const { url, databaseUrl, receive, text } = await setUp(t);
  await receive('STOP');
  t.equal(await text(), BLOCKED);
  const db = await openTestDatabase(t, databaseUrl);
  await sql`delete from subscriptions`.execute(db);
  t.same(await db.selectFrom('opt_outs').selectAll().execute(), []);
  const { headers } = await subscribeInStore(databaseUrl, BOB, String(SLOT.number));
  const answer = await fetch(`${url}/sms/send`, jsonPost({ to: PEER, body: 'hello' }, headers));
  t.equal(answer.status, 200);
});
