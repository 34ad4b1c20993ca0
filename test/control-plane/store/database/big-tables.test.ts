// A year of a large service: lists of any length, and no statement of operators or of housekeeping that reads a whole table that grows.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { OpenAlert } from '#control-plane/domain/alert.ts';
import type { Database } from '#control-plane/store/database/database.ts';
import { readFleet } from '#control-plane/store/fleet/fleet-nodes.ts';
import { listNumbers } from '#control-plane/store/fleet/numbers.ts';
import { endCall } from '#control-plane/store/messages/call-ends.ts';
import {
  findCallStates,
  findCallsSince,
  findForgottenCalls,
  findOpenCallOfSim,
  findOpenCallsOfNode,
  putCall,
  vouchForCalls,
} from '#control-plane/store/messages/calls.ts';
import { findFilledInboxes } from '#control-plane/store/messages/message-claims.ts';
import { deleteMessages, purgeOldMessages } from '#control-plane/store/messages/message-deletion.ts';
import { findOpenSends } from '#control-plane/store/messages/messages.ts';
import { admitSend, deleteOldSends, uncountSend } from '#control-plane/store/messages/sending.ts';
import { deleteUnsoldCalls, makeRoomForUnsold } from '#control-plane/store/messages/unsold-calls.ts';
import { deleteExpiredNonces } from '#control-plane/store/money/credentials.ts';
import { closeTakenBack } from '#control-plane/store/money/payment-events.ts';
import { listPayments } from '#control-plane/store/money/payment-list.ts';
import { purgeLapsed } from '#control-plane/store/money/purge.ts';
import { listSubscriptions } from '#control-plane/store/money/subscription-list.ts';
import { forgetAlerts, saveAlerts } from '#control-plane/store/operations/alerts.ts';
import { listSlotEvents } from '#control-plane/store/operations/events.ts';
import { readSnapshot } from '#control-plane/store/operations/fleet-snapshot.ts';
import { listNumberEvents } from '#control-plane/store/operations/number-events.ts';
import { admitProven, findAdmissionTexts } from '#control-plane/store/operations/probe-admission.ts';
import { listProbes, summarizeProbes } from '#control-plane/store/operations/probe-list.ts';
import { findSpareSims } from '#control-plane/store/operations/probe-pairs.ts';
import { findTrials } from '#control-plane/store/operations/probe-trials.ts';
import { abandonOverdue, deleteOldProbes, lastScheduled } from '#control-plane/store/operations/probes.ts';
import { takeSample } from '#control-plane/store/operations/samples.ts';
import {
  findDueSold,
  forgetReached,
  judgeSold,
  lastToSubscriber,
  readProbeUsage,
} from '#control-plane/store/operations/sold-probes.ts';
import { fillYear } from '../../../bench/history-fill.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { collectStatements, wholeReads } from '../plans.ts';

const HOUR_MS = 3_600_000;
const NUMBER = '+12065550100';
const statements = collectStatements();
const postgres = await openDatabases(t);

const DATABASES = {
  Postgres: () => postgres.createDatabase(),
  PGlite: async (t: Test) => ({ folder: temporaryFolder(t) }),
};

/** More than the values that one statement can bind. */
const MANY = Array.from({ length: 70_000 }, (_, index) => `id-${index}`);

async function subscribed(db: Database): Promise<void> {
  await sql`insert into numbers (number, iccid, created_at) values (${NUMBER}, '8901', now())`.execute(db);
  await sql`insert into subscriptions (id, wallet, number, created_at, expires_at)
    values ('id-5', '0xa', ${NUMBER}, now() - interval '1 hour', now() + interval '1 day')`.execute(db);
}

for (const [name, where] of Object.entries(DATABASES)) {
  t.test(`70,000 subscriptions, calls and SIMs in one list (${name})`, async (t) => {
    const db = await openTestDatabase(t, await where(t));
    await subscribed(db);
    const now = new Date();
    const since = new Date(now.getTime() - 5_000);
    const call = {
      callId: 'id-7',
      subscriptionId: 'id-5',
      number: NUMBER,
      iccid: '8901',
      nodeId: 'lab',
      direction: 'inbound',
      peer: null,
      state: 'ringing',
      startedAt: now,
      answeredAt: null,
      answeredBy: null,
    } as const;
    await putCall(db, call, now);
    t.match(await findCallsSince(db, MANY, since), { open: [{ callId: 'id-7' }], ended: [] });
    t.match(await findCallStates(db, MANY), [{ callId: 'id-7', state: 'ringing' }]);
    const later = new Date(now.getTime() + HOUR_MS);
    await vouchForCalls(
      db,
      MANY.map((callId) => ({ callId, upAt: later })),
      later,
    );
    t.match(await findCallsSince(db, MANY, now), { open: [{ callId: 'id-7' }] });
    t.same(await findFilledInboxes(db, MANY), []);
    t.equal(await lastScheduled(db, 'sms', MANY), undefined);
    await db.transaction().execute((trx) => forgetAlerts(trx, MANY, now));
  });

  t.test(`an end that a node reports hours late is news (${name})`, async (t) => {
    const db = await openTestDatabase(t, await where(t));
    await subscribed(db);
    const now = new Date();
    const ended = {
      kind: 'call_ended',
      call_id: 'late',
      iccid: '8901',
      direction: 'inbound',
      peer: null,
      started_at: new Date(now.getTime() - HOUR_MS / 2).toISOString(),
      answered_at: null,
      ended_at: new Date(now.getTime() - HOUR_MS / 3).toISOString(),
      reason: 'cancelled',
      cause: 16,
      audio: null,
    } as const;
    const end = (at: Date) => db.transaction().execute((trx) => endCall(trx, 'lab', ended, at));
    await end(now);
    const before = new Date(now.getTime() - 5_000);
    t.match(await findCallsSince(db, ['id-5'], before), { ended: [{ callId: 'late' }] });
    await end(new Date(now.getTime() + HOUR_MS));
    t.match(await findCallsSince(db, ['id-5'], now), { open: [], ended: [] }, 'reported twice: no news');
  });

  t.test(`alerts of every slot of a large fleet (${name})`, async (t) => {
    const db = await openTestDatabase(t, await where(t));
    const now = new Date();
    const alerts = Array.from(
      { length: 6_000 },
      (_, index): OpenAlert => ({
        id: `alert_${index}`,
        kind: 'slot_down',
        subject: `lab/m${index}`,
        severity: 'warning',
        summary: 'down',
        advice: 'look',
        reading: null,
        since: now,
        seenAt: now,
        raisedAt: now,
        worseSince: null,
        wellSince: null,
        recoveredAt: null,
        cause: null,
      }),
    );
    await db.transaction().execute((trx) => saveAlerts(trx, alerts));
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from alerts`.execute(db);
    t.same(rows, [{ count: 6_000 }]);
  });
}

t.test('operators and housekeeping read no whole table that grows', async (t) => {
  const url = await postgres.createDatabase();
  const db = await openTestDatabase(t, url);
  await subscribed(db);
  await sql`insert into node_events (node_id, slot, kind, detail, at, received_at)
    values ('lab', 'm1', 'state', 'lost', now(), now())`.execute(db);
  statements.clear();
  const now = new Date();
  const page = { after: 'id-1', limit: 10 };
  await deleteUnsoldCalls(db, now);
  await makeRoomForUnsold(db, 'id-5');
  await findOpenCallOfSim(db, 'id-5', 'id-5');
  await findForgottenCalls(db, now);
  await findOpenCallsOfNode(db, 'lab', new Date());
  await deleteExpiredNonces(db, now);
  await deleteOldProbes(db, now);
  await abandonOverdue(db, now);
  await findDueSold(db, { dueBefore: now, now });
  await lastToSubscriber(db);
  await readProbeUsage(db, ['id-5'], now);
  await judgeSold(db, { iccid: 'id-5', node: 'lab', slot: 'm5' }, { partners: 2, now });
  await forgetReached(db, { isOff: false });
  await deleteMessages(db, { subscriptionId: 'id-5', direction: 'sent' });
  for (const hours of [2, 1, 0])
    await purgeOldMessages(db, { keepMs: HOUR_MS, now: new Date(now.getTime() - hours * HOUR_MS) });
  await sql`update subscriptions set expires_at = now() - interval '1 day', lapsed_at = now() - interval '2 hours'`.execute(
    db,
  );
  await purgeLapsed(db, { graceMs: 0, now });
  await findOpenSends(db, 'lab', { id: 0, after: now, before: now, statuses: ['sending', 'unknown'] });
  await findOpenSends(db, 'lab', { id: 0, after: now, before: now, statuses: ['sending'] });
  await listPayments(db, page, now);
  await listPayments(db, { ...page, state: 'void', wallet: '0xa' }, now);
  await listPayments(db, { isStuck: true, limit: 500 }, now);
  // It was purged.
  await t.rejects(listSubscriptions(db, page, now), { message: /gone/ });
  await closeTakenBack(db, 'id-5', 'why', now);
  await listNumberEvents(db, NUMBER, { limit: 50, now });
  await listSlotEvents(db, { node: 'lab', slot: 'm1', limit: 20 });
  await listProbes(db, { limit: 10, after: 5 });
  await summarizeProbes(db, { by: 'slot', span: 'day', now });
  await listProbes(db, { limit: 10, node: 'lab', slot: 'm1' });
  await findTrials(db, { node: 'lab', slot: 'm1' });
  await findSpareSims(db, now);
  await findAdmissionTexts(db, { now, retryBefore: now });
  await admitProven(db);
  await takeSample(db, await readFleet(db, now), now);
  await db.transaction().execute((trx) => readSnapshot(trx, now, { planDays: 7 }));
  await deleteOldSends(db, now);
  await listNumbers(db, { state: 'available', limit: 10 }, now);
  await findCallsSince(db, ['id-5'], now);
  t.ok(statements.size > 25, `${statements.size} statements`);
  t.same(await wholeReads(url, statements), []);
});

t.test('a send reads no whole table that grows, whichever limit refuses it', async (t) => {
  const url = await postgres.createDatabase();
  const db = await openTestDatabase(t, url);
  await subscribed(db);
  statements.clear();
  const limits = {
    smsPerMinute: 9,
    smsPerDay: 9,
    smsRecipientsPerDay: 2,
    smsRepeatedPerDay: 1,
    smsUnansweredPerDay: 3,
    smsPerAnswer: 1,
  };
  const SLOT = { nodeId: 'lab', slot: 'm1', carrier: null };
  const send = async (index: number, body: string, change: Partial<typeof limits> = {}) => {
    const text = { subscriptionId: 'id-5', from: NUMBER, to: `+1310555010${index}`, body, segments: 1 };
    const commandId = `msg_${index}${body}`;
    const now = new Date();
    const sent = await admitSend(db, { commandId, slot: SLOT, ...text, now }, { ...limits, ...change });
    return sent.kind === 'limited' ? sent.exceeded.limit : sent.kind;
  };
  t.equal(await send(1, 'a'), 'admitted');
  t.equal(await send(2, 'a'), 'repeated_text_recipients_per_day');
  t.equal(await send(2, 'b'), 'admitted');
  t.equal(await send(3, 'c'), 'recipients_per_day');
  t.equal(await send(1, 'd', { smsPerMinute: 1 }), 'messages_per_minute');
  t.equal(await send(1, 'e'), 'admitted');
  t.equal(await send(1, 'f'), 'unanswered_per_day');
  await uncountSend(db, 'msg_1a');
  t.equal(await send(1, 'g'), 'admitted');
  t.ok(statements.size > 8, `${statements.size} statements`);
  t.same(await wholeReads(url, statements), []);
});

t.test('the bench of a year still fills the tables as they are', async (t) => {
  const url = await postgres.createMigrated();
  await fillYear(url, 1_000, new Date());
  const db = await openTestDatabase(t, url);
  const { rows } = await sql<{ messages: string; calls: string }>`select
    (select count(*) from messages) as messages, (select count(*) from calls) as calls`.execute(db);
  t.match(rows, [{ messages: 1_000, calls: 250 }]);
});
