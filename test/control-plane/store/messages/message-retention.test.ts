// MESSAGE_DAYS: what is older is deleted, in batches, by a clock that more than one reading confirms.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { Database } from '#control-plane/store/database/database.ts';
import { purgeOldMessages } from '#control-plane/store/messages/message-deletion.ts';
import { ALICE } from '../../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../../fixtures/agents/subscribed.ts';
import { received, SLOT } from '../../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { dump } from '../../../fixtures/database/database-dump.ts';
import { fillTables, putMessages } from '../../../fixtures/database/lived-database.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { MINUTE_MS, roundIsOver } from '../../../fixtures/service/housekeeping.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse('2026-11-21T08:00:00Z');
const KEEP_MS = 10 * DAY_MS;

/** Messages of the given days before `NOW`, and a round of the cleaning the given milliseconds after it. */
async function aged(t: Test, days: readonly number[]) {
  const db = await openTestDatabase(t, await rig.postgres.createMigrated());
  await fillTables(db);
  await sql`insert into subscriptions values ('sub_1', '0xb', '+12065550900', now(), now())`.execute(db);
  await putMessages(db, days.length);
  const rows = await db.selectFrom('messages').select('id').orderBy('id').execute();
  for (const [index, { id }] of rows.entries())
    await db
      .updateTable('messages')
      .set({ body: `${days[index]} days`, created_at: new Date(NOW - Number(days[index]) * DAY_MS) })
      .where('id', '=', id)
      .execute();
  const round = (afterMs: number) => purgeOldMessages(db, { keepMs: KEEP_MS, now: new Date(NOW + afterMs) });
  return { db, round, left: () => bodiesOf(db) };
}

const bodiesOf = async (db: Database): Promise<string[]> =>
  (await db.selectFrom('messages').select('body').orderBy('created_at').execute()).map(({ body }) => body);

t.test('older messages are deleted once an hour has confirmed the clock', async (t) => {
  const { db, round, left } = await aged(t, [30, 11, 9.9, 0]);
  t.equal(await round(0), 0, 'the first reading');
  t.equal(await round(HOUR_MS - 1), 0, 'within the hour');
  t.equal(await round(HOUR_MS), 2);
  t.same(await left(), ['9.9 days', '0 days']);
  t.equal(await round(HOUR_MS + MINUTE_MS), 0);
  t.equal(await round(3 * HOUR_MS), 0, 'it is a little younger');
  t.equal(await round(6 * HOUR_MS), 1);
  t.same(await left(), ['0 days']);
  t.same((await db.selectFrom('unreadable_messages').selectAll().execute()).length, 1, 'it came today');
  await round(20 * DAY_MS);
  await round(21 * DAY_MS);
  t.same(await left(), []);
});

t.test('a clock that is years ahead for less than an hour deletes nothing, ever', async (t) => {
  const { round, left } = await aged(t, [9, 0]);
  const yearsMs = 3_650 * DAY_MS;
  await round(0);
  await round(HOUR_MS);
  t.equal(await round(yearsMs), 0, 'ahead');
  t.equal(await round(yearsMs + 59 * MINUTE_MS), 0, 'for 59 minutes');
  t.equal(await round(2 * HOUR_MS), 0, 'right again');
  t.equal(await round(3 * HOUR_MS), 0);
  t.equal(await round(yearsMs), 0, 'ahead again');
  t.equal(await round(4 * HOUR_MS), 0, 'and another instance, whose clock is right');
  t.equal(await round(yearsMs + HOUR_MS), 0);
  t.same(await left(), ['9 days', '0 days']);
});

t.test('a batch a round, and locked messages are left for the next', async (t) => {
  const { db, round } = await aged(t, []);
  await putMessages(db, 10_500);
  await db
    .updateTable('messages')
    .set({ created_at: new Date(NOW - 30 * DAY_MS) })
    .execute();
  await round(0);
  const other = await db.startTransaction().execute();
  await other.selectFrom('messages').select('id').orderBy('id').limit(1).forUpdate().execute();
  t.equal(await round(HOUR_MS), 10_000);
  t.equal(await round(HOUR_MS + MINUTE_MS), 499);
  await other.commit().execute();
  t.equal(await round(HOUR_MS + 2 * MINUTE_MS), 1);
});

t.test('MESSAGE_DAYS: the service does it, and pages and claims go on', async (t) => {
  const clock = new ManualClock();
  const begun = clock.now();
  const { url, databaseUrl } = await rig.start(t, { clock, heartbeatMs: 3_650 * DAY_MS, messageDays: 10 });
  const node = await rig.connect(t, url, { journalId: 'journal-1' });
  const db = await openTestDatabase(t, databaseUrl);
  const { headers } = await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number), new Date(begun));
  for (let sequence = 1; sequence <= 4; sequence += 1) node.sendFact(sequence, received(`old ${sequence}`));
  await node.report({
    kind: 'sms_unreadable',
    iccid: String(SLOT.iccid),
    pdu: '0791OLDPDU',
    reason: 'x',
    received_at: new Date(begun).toISOString(),
  });
  const page = async (query: string) =>
    (await (await fetch(`${url}/sms/messages${query}`, { headers })).json()) as {
      messages: Array<{ body: string }>;
      next_cursor: string | null;
    };
  clock.set(begun + 10 * DAY_MS);
  await node.report(received('new'));
  const first = await page('?limit=2');
  t.match(first.messages, [{ body: 'new' }, { body: 'old 4' }]);
  const rest = await page(`?cursor=${first.next_cursor}`);
  t.equal(rest.messages.length, 3);
  for (let round = 0; round < 3; round += 1) {
    clock.advance(HOUR_MS);
    await until('a round', async () => (await fetch(`${url}/availability`)).ok);
    await roundIsOver(clock);
  }
  await until('they are gone', async () => (await bodiesOf(db)).length === 1);
  t.same(await page(`?cursor=${first.next_cursor}`), { messages: [], next_cursor: null });
  const claimed = (await (await fetch(`${url}/sms/receive`, { headers })).json()) as object;
  t.match(claimed, { count: 1, messages: [{ body: 'new' }] });
  for (const [name, rows] of await dump(db)) t.notMatch(rows, /old \d|OLDPDU/, name);
});
