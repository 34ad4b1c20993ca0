// DELETE of messages: what is deleted is in no answer, no row and no backup, and nothing that comes late brings it back.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { saveBackup } from '#control-plane/backup/backup-file.ts';
import { writeBackup } from '#control-plane/backup/backup-writer.ts';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { FactInbox } from '#control-plane/nodes/fact-inbox.ts';
import { claimReceived } from '#control-plane/store/messages/message-claims.ts';
import { deleteMessages } from '#control-plane/store/messages/message-deletion.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { BOB } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { received, SLOT, subscriber, texts } from '../../fixtures/agents/subscriber.ts';
import { dump } from '../../fixtures/database/database-dump.ts';
import { putMessages } from '../../fixtures/database/lived-database.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { acceptAll, type Command, linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const SECRET = 'the code is 271828';
const RESULT = { status: 'accepted' as const, message_references: [7], at: new Date().toISOString() };

/** Alice with a way to delete, and what her database and a backup of it have. */
async function setUp(t: Test, options: Parameters<typeof subscriber>[2] = {}) {
  const alice = await subscriber(t, rig, options);
  const db = await openTestDatabase(t, alice.databaseUrl);
  const remove = async (path: string, headers: Record<string, string> = alice.headers) => {
    const response = await fetch(alice.url + path, { method: 'DELETE', headers });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as unknown };
  };
  const tablesWith = async (text: string): Promise<string[]> =>
    [...(await dump(db))].flatMap(([name, rows]) => (rows.includes(text) ? [name] : []));
  const isBackedUp = async (text: string): Promise<boolean> => {
    const file = join(temporaryFolder(t), `${randomUUID()}.backup`);
    await saveBackup(file, (out) => writeBackup(db, out, systemClock));
    return gunzipSync(readFileSync(file)).includes(text);
  };
  const idOf = async (body: string): Promise<number> => {
    const row = (await alice.history('?limit=100')).find((each) => each.body === body);
    if (row === undefined) throw new Error(`there is no ${body}`);
    return row.id;
  };
  return { ...alice, db, remove, tablesWith, isBackedUp, idOf };
}

t.test('one message: gone from every answer, from the tables and from the next backup', async (t) => {
  const { node, get, remove, history, idOf, tablesWith, isBackedUp } = await setUp(t);
  await node.report(received(SECRET), received('stays'));
  t.same(await tablesWith(SECRET), ['messages']);
  t.equal(await isBackedUp(SECRET), true);
  const id = await idOf(SECRET);
  t.same(await remove(`/sms/messages/${id}`), { status: 204, body: undefined });
  t.same(await tablesWith(SECRET), []);
  t.equal(await isBackedUp(SECRET), false);
  t.equal(await isBackedUp('stays'), true);
  t.match(
    await remove(`/sms/messages/${id}`),
    { status: 404, body: { error: 'message_not_found' } },
    'again',
  );
  t.match(await get('/sms/receive'), { body: { count: 1, messages: [{ body: 'stays' }] } }, 'never claimed');
  t.match(await history(), [{ body: 'stays' }]);
});

t.test('a message of another subscription, and an invalid id', async (t) => {
  const { url, databaseUrl, node, remove, idOf, history } = await setUp(t, {
    slots: [SLOT, slotAt(2)],
  });
  const bob = await subscribeInStore(databaseUrl, BOB, String(slotAt(2).number));
  await node.report(received(SECRET));
  const id = await idOf(SECRET);
  t.match(await remove(`/sms/messages/${id}`, bob.headers), {
    status: 404,
    body: { error: 'message_not_found' },
  });
  t.match(await remove('/sms/messages', bob.headers), { status: 200, body: { deleted: 0, has_more: false } });
  t.equal((await remove(`/sms/messages/${id}`, {})).status, 401);
  t.equal((await remove('/sms/messages', {})).status, 401);
  for (const bad of ['0', '-1', '1.5', 'abc', '01', '9007199254740992', '1e3', '%00', '1%20'])
    t.match(await remove(`/sms/messages/${bad}`), {
      status: 400,
      body: { error: 'invalid_request', field: 'id' },
    });
  t.match(await remove('/sms/messages/9007199254740991'), { status: 404 });
  t.equal((await remove('/sms/messages/')).status, 404);
  t.match((await history()).length, 1, 'all of it left the message');
  const preflight = await fetch(`${url}/sms/messages/1`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'DELETE' },
  });
  t.match(preflight.headers.get('access-control-allow-methods'), 'DELETE');
});

t.test('all, and those that filters name; a filter that is mistyped deletes nothing', async (t) => {
  const { node, send, remove, history, db, tablesWith } = await setUp(t);
  await node.report(...texts(5), {
    kind: 'sms_unreadable',
    iccid: String(SLOT.iccid),
    pdu: '0791SECRETPDU',
    reason: 'x',
    received_at: new Date().toISOString(),
  });
  await send({ to: '+13105550188', body: 'mine' });
  for (const [query, field] of [
    ['?untill=2000-01-01T00:00:00Z', 'untill'],
    ['?direction=up', 'direction'],
    ['?since=yesterday', 'since'],
    ['?until=', 'until'],
    ['?limit=1', 'limit'],
    ['?cursor=x', 'cursor'],
    ['?direction=sent&direction=received', 'direction'],
  ] as const)
    t.match(await remove(`/sms/messages${query}`), {
      status: 400,
      body: { error: 'invalid_request', field },
    });
  t.equal((await history()).length, 6, 'nothing was deleted');
  const [first] = await db.selectFrom('messages').select(['id', 'body']).orderBy('id').execute();
  const old = new Date('2026-01-01T00:00:00Z');
  await db.updateTable('messages').set({ created_at: old }).where('id', '=', Number(first?.id)).execute();
  t.match(await remove('/sms/messages?until=2026-01-01T00:00:00Z'), {
    body: { deleted: 1, has_more: false },
  });
  t.match(await remove('/sms/messages?since=2100-01-01T00:00:00Z'), { body: { deleted: 0 } });
  t.match(await remove('/sms/messages?direction=sent'), { body: { deleted: 1 } });
  t.same(await tablesWith('SECRETPDU'), ['unreadable_messages'], 'an unread message is not one of these');
  t.match(await remove('/sms/messages'), { status: 200, body: { deleted: 4, has_more: false } });
  t.same(await history(), []);
  t.same(await tablesWith('SECRETPDU'), []);
  t.match(await remove('/sms/messages'), { status: 200, body: { deleted: 0, has_more: false } });
});

t.test('pages go on where rows of them were deleted', async (t) => {
  const { node, get, remove, history } = await setUp(t);
  await node.report(...texts(9));
  const page = async (cursor = '') => {
    const { body } = await get(`/sms/messages?limit=3${cursor && `&cursor=${cursor}`}`);
    const rows = body['messages'] as Array<{ id: number; body: string }>;
    return { rows, bodies: rows.map((row) => row.body), next: body['next_cursor'] as string | null };
  };
  const all = (await history()).map(({ body }) => body);
  const first = await page();
  // The last of this page, at which the cursor points, and the first of the next.
  await remove(`/sms/messages/${first.rows[2]?.id}`);
  const ids = new Map((await history()).map((row) => [row.body, row.id]));
  await remove(`/sms/messages/${ids.get(String(all[3]))}`);
  const second = await page(String(first.next));
  t.same(second.bodies, all.slice(4, 7));
  await remove('/sms/messages');
  t.same(await page(String(second.next)), { rows: [], bodies: [], next: null });
});

t.test('a claim and a deletion at once: a message goes to one of them, and none comes back', async (t) => {
  const { node, get, remove, db } = await setUp(t);
  await node.report(...texts(200));
  const claimed: string[] = [];
  const claim = async (): Promise<void> => {
    const { body } = await get('/sms/receive?limit=20');
    claimed.push(...(body['messages'] as Array<{ body: string }>).map((row) => row.body));
  };
  const removeOne = async (id: number): Promise<number> => (await remove(`/sms/messages/${id}`)).status;
  const ids = (await db.selectFrom('messages').select('id').orderBy('id').execute()).map(({ id }) => id);
  const [statuses, bulk] = await Promise.all([
    Promise.all(ids.slice(0, 40).map(removeOne)),
    remove('/sms/messages'),
    ...Array.from({ length: 6 }, claim),
  ]);
  const { deleted, has_more: hasMore } = bulk.body as { deleted: number; has_more: boolean };
  t.equal(bulk.status, 200);
  t.equal(hasMore, false);
  t.equal(deleted + statuses.filter((status) => status === 204).length, 200, 'each was deleted once');
  t.equal(new Set(claimed).size, claimed.length, 'each was given out once at most');
  t.match(await get('/sms/receive'), { body: { count: 0 } });
});

t.test('a deletion waits for rows that others hold, and only for those', async (t) => {
  const { node, db, history } = await setUp(t);
  await node.report(...texts(3));
  const { subscription_id: subscriptionId } = await db
    .selectFrom('messages')
    .select('subscription_id')
    .executeTakeFirstOrThrow();
  const other = await db.startTransaction().execute();
  t.equal((await claimReceived(other, { subscriptionId, limit: 2, now: new Date() })).length, 2);
  const deleting = deleteMessages(db, { subscriptionId, direction: 'both' });
  await until('the free one is gone', async () => (await history()).length === 2);
  await other.commit().execute();
  t.same(await deleting, { deleted: 3, hasMore: false });
});

t.test('more than one request deletes', async (t) => {
  const { db, remove } = await setUp(t);
  // In two statements: each has the time-out of those of the service.
  for (let times = 0; times < 2; times += 1) await putMessages(db, 50_060, null);
  t.match(await remove('/sms/messages?direction=sent'), { body: { deleted: 0, has_more: false } });
  t.match(await remove('/sms/messages'), { status: 200, body: { deleted: 100_100, has_more: true } });
  t.match(await remove('/sms/messages'), { status: 200, body: { deleted: 20, has_more: false } });
});

t.test('late results for a deleted message fail nothing and restore nothing', async (t) => {
  const held: Command[] = [];
  const { url, node, send, remove, history, idOf, tablesWith } = await setUp(t, {
    onCommand: (command) => {
      if (command.name !== 'send_sms') return acceptAll(command);
      held.push(command);
      return undefined;
    },
    service: { sendTimeoutMs: 60_000 },
  });
  const sending = send({ to: '+13105550188', body: SECRET });
  await until('it is under way', () => held.length === 1);
  t.equal((await remove(`/sms/messages/${await idOf(SECRET)}`)).status, 204, 'while it is being sent');
  const id = String(held[0]?.id);
  node.send({ type: 'result', id, ok: true, result: RESULT });
  t.match(await sending, { status: 200, body: { message_id: `${id}.7`, status: 'queued' } }, 'it was sent');
  await node.report(
    { kind: 'sms_outcome', command_id: id, outcome: RESULT },
    {
      kind: 'sms_report',
      iccid: String(SLOT.iccid),
      command_id: id,
      message_reference: 7,
      recipient: '+13105550188',
      part: 1,
      parts: 1,
      status: 'delivered',
      tp_status: 0,
      at: new Date().toISOString(),
    },
    received('the next'),
  );
  t.match(await history(), [{ body: 'the next' }]);
  t.same(await tablesWith(SECRET), []);

  // The acknowledgement is lost: the node sends all of it again.
  await remove('/sms/messages');
  await node.drop();
  const again = await linkNode(t, url, { journalId: 'journal-1', oldestSequence: 1 });
  for (const sequence of [1, 2]) again.sendFact(sequence, received('again'));
  await again.report(received('the next'), received('new'));
  t.match(await history(), [{ body: 'new' }]);
  t.equal((await history()).length, 1);
});

t.test(
  'the link that was left and the next one commit the same fact, with a deletion in between',
  async (t) => {
    const { db, remove, history } = await setUp(t);
    const failures: unknown[] = [];
    const inbox = () =>
      new FactInbox({
        db,
        bus: new LocalBus(systemClock),
        clock: systemClock,
        log: silentLogger,
        nodeId: 'scripted',
        journalId: 'journal-1',
        acknowledged: 0,
        oldestSequence: 1,
        slotsWritten: async () => undefined,
        acknowledge: () => undefined,
        fail: (error) => failures.push(error),
      });
    // Both inboxes know that nothing is committed yet.
    const [left, next] = [inbox(), inbox()];
    left.push(1, received(SECRET));
    await left.idle();
    t.equal((await history()).length, 1);
    t.match(await remove('/sms/messages'), { body: { deleted: 1 } });
    next.push(1, received(SECRET));
    next.push(2, received('new'));
    await next.idle();
    t.same(failures, []);
    t.same(
      (await history()).map(({ body }) => body),
      ['new'],
    );
  },
);
