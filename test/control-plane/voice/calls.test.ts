// Records of calls: each ends once, whatever was seen of it; GET /voice/calls; purges, later holders, lost nodes.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { Database } from '#control-plane/store/database/database.ts';
import { isLinked } from '#control-plane/store/fleet/node-links.ts';
import { putCall } from '#control-plane/store/messages/calls.ts';
import { purgeLapsed } from '#control-plane/store/money/purge.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { CAUSE, callCloseCode } from '#shared/voice/release-cause.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { FAR_END, telephone } from '../../fixtures/agents/telephone.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { instanceCount } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

const AUDIO = {
  captured_frames: 1000,
  played_frames: 900,
  late_frames: 1,
  dropped_frames: 2,
  lost_frames: 3,
  capture_gaps: 4,
  xruns: 1,
};

const inbound = (call_id: string, change: Partial<LiveCall> = {}): LiveCall => ({
  call_id,
  iccid: String(slotAt(1).iccid),
  direction: 'inbound',
  state: 'ringing',
  peer: FAR_END,
  started_at: new Date().toISOString(),
  answered_at: null,
  ...change,
});

/** A telephone whose holder has had the number for an hour. */
async function olderTelephone(t: Test, ...[options]: [Parameters<typeof telephone>[2]?]) {
  const phone = await telephone(t, rig, options);
  const db = await openTestDatabase(t, phone.databaseUrl);
  await db
    .updateTable('subscriptions')
    .set({ created_at: new Date(Date.now() - 3_600_000) })
    .execute();
  return { ...phone, db };
}

/** Lets no call be stored until the function that it gives is called. */
async function holdCalls(db: Database): Promise<() => void> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await new Promise<void>((resolve, reject) => {
    db.transaction()
      .execute(async (trx) => {
        await sql`lock table calls in exclusive mode`.execute(trx);
        resolve();
        await released;
      })
      .catch(reject);
  });
  return release;
}

t.test('a call that was never seen live has its record; reported twice it is one', async (t) => {
  const { line, node, calls, number, presence } = await olderTelephone(t);
  const watcher = await presence();
  const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
  const times = { started_at: ago(60_000), answered_at: ago(50_000) };
  const call = inbound('in-missed-1', times);
  const endedAt = new Date(Date.parse(times.answered_at) + 30_000).toISOString();
  line.end(call, { reason: 'remote_hangup', cause: 16 }, { ended_at: endedAt, audio: AUDIO });
  await until('committed', () => node.acknowledged === 1);
  const expected = {
    call_id: 'in-missed-1',
    direction: 'inbound',
    caller: FAR_END,
    phone_number: number,
    state: 'ended',
    ...times,
    ended_at: endedAt,
    duration_ms: 30_000,
    reason: 'remote_hangup',
    cause: 16,
    answered_by: null,
    audio: AUDIO,
  };
  t.same(await calls(), [expected]);
  line.end(call, { reason: 'busy', cause: 17 });
  await until('committed again', () => node.acknowledged === 2);
  t.same(await calls(), [expected], 'the first word counts');
  await until('it is reported', () => watcher.texts.length > 0);
  t.match(watcher.texts, [{ kind: 'ended', call_id: 'in-missed-1' }], 'and reported once');
  t.equal(watcher.texts.length, 1);
});

t.test('pages join to the whole, newest first, with filters; bad queries are 400', async (t) => {
  const { line, node, calls, ask } = await olderTelephone(t);
  for (let count = 0; count < 25; count += 1) {
    // Pairs of one instant.
    const startedAt = new Date(Date.now() - 100_000 + Math.floor(count / 2) * 1_000).toISOString();
    const direction = count % 5 === 0 ? 'outbound' : 'inbound';
    const call = inbound(`in-page-${count}`, { started_at: startedAt, direction });
    line.end(call, { reason: 'cancelled', cause: 16 });
  }
  await until('committed', () => node.acknowledged === 25);
  const all = await calls('?limit=100');
  t.equal(all.length, 25);
  const instants = all.map((call) => String(call['started_at']));
  t.same(instants, [...instants].sort().reverse());
  const paged: unknown[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await ask(`/voice/calls?limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    paged.push(...(body['calls'] as unknown[]));
    cursor = body['next_cursor'] as string | null;
  }
  t.same(paged, all);
  t.equal((await calls('?direction=outbound')).length, 5);
  t.equal((await calls('?direction=inbound&limit=100')).length, 20);
  const middle = String(instants[10]);
  t.ok((await calls(`?since=${middle}&limit=100`)).every((call) => String(call['started_at']) >= middle));
  t.ok(
    (await calls(`?until=${middle}&limit=100`)).some((call) => call['started_at'] === middle),
    'inclusive',
  );
  for (const bad of ['limit=0', 'limit=101', 'direction=sent', 'since=x', 'cursor=abc', 'limit=1&limit=2'])
    t.match(await ask(`/voice/calls?${bad}`), { status: 400, body: { error: 'invalid_request' } }, bad);
});

t.test(
  'a call of an earlier holder has no holder, and one of a SIM that the node does not hold is not kept',
  async (t) => {
    const { line, node, calls, db } = await olderTelephone(t);
    const before = new Date(Date.now() - 2 * 3_600_000).toISOString();
    line.end(inbound('in-earlier', { started_at: before }), { reason: 'cancelled', cause: 16 });
    line.end(inbound('in-strange', { iccid: '8901000000000009999' }), { reason: 'cancelled', cause: 16 });
    await until('committed', () => node.acknowledged === 2);
    t.same(await calls(), []);
    const rows = await db
      .selectFrom('calls')
      .select(['id', 'subscription_id', 'number'])
      .orderBy('id')
      .execute();
    t.same(rows, [{ id: 'in-earlier', subscription_id: null, number: slotAt(1).number }]);
  },
);

t.test('a purge takes the calls along', async (t) => {
  const { line, node, calls, db } = await olderTelephone(t);
  line.end(inbound('in-older-1'), { reason: 'cancelled', cause: 16 });
  await until('committed', () => node.acknowledged === 1);
  t.equal((await calls()).length, 1);
  const now = new Date(Date.now() + 400 * 24 * 60 * MINUTE_MS);
  await purgeLapsed(db, { graceMs: 0, now });
  const later = new Date(now.getTime() + 61 * MINUTE_MS);
  t.equal((await purgeLapsed(db, { graceMs: 0, now: later })).length, 1);
  t.same(await db.selectFrom('calls').select('id').execute(), []);
});

t.test(
  'a line has one call, whose end may be late: of a SIM that has five, a node can begin no sixth',
  async (t) => {
    const { line, calls, presence } = await telephone(t, rig);
    const watcher = await presence();
    const first = line.ring(FAR_END, 'in-line-1');
    for (const name of ['in-line-2', 'in-line-3', 'in-line-4', 'in-line-5']) line.ring(FAR_END, name);
    await until('five ring', () => watcher.texts.length === 5);
    line.ring(FAR_END, 'in-line-6');
    line.end(first, { reason: 'cancelled', cause: 16 });
    await until('the first is over', () => watcher.of({ kind: 'ended' }).length === 1);
    line.ring(FAR_END, 'in-line-7');
    await until('the next one rings', () => watcher.texts.some(({ call_id: id }) => id === 'in-line-7'));
    const known = new Set((await calls()).map(({ call_id: id }) => id));
    t.same([known.size, known.has('in-line-6')], [6, false]);
  },
);

t.test(
  'a node that comes back decides: a call that it does not have is over, and its later report corrects the reason',
  async (t) => {
    const clock = new ManualClock();
    const phone = await olderTelephone(t, { service: { clock, heartbeatMs: 3_600_000 } });
    const { line, calls, url, presence } = phone;
    const watcher = await presence();
    const kept = line.ring();
    const gone = line.ring(FAR_END, 'in-gone-1');
    await until('both ring', () => watcher.texts.length === 2);
    await phone.node.drop();
    const node = await linkNode(t, url, {
      journalId: 'journal-1',
      onCommand: line.onCommand,
      calls: [{ ...kept, state: 'active' }],
    });
    line.node = node;
    await until('come further', () => watcher.of({ kind: 'answered', call_id: kept.call_id }).length === 1);
    t.equal(watcher.of({ kind: 'ended' }).length, 0, 'its fact may be on its way');
    const linkedAt = clock.now();
    await until('given up', () => {
      // The other one has no stream, and is hung up after half a minute.
      if (clock.now() - linkedAt < MINUTE_MS / 3) clock.advance(1_000);
      return watcher.of({ kind: 'ended' }).length === 1;
    });
    t.match(watcher.of({ kind: 'ended' }), [{ call_id: 'in-gone-1', reason: 'contact_lost', cause: 41 }]);
    line.end(gone, { reason: 'cancelled', cause: 16 });
    await until('corrected', async () => (await calls()).some(({ reason }) => reason === 'cancelled'));
    t.equal(watcher.of({ kind: 'ended' }).length, 1, 'and reported once');
  },
);

t.test(
  'a call that its node reports just after its hello is not given up; one that it never reports is',
  async (t) => {
    const clock = new ManualClock();
    const phone = await olderTelephone(t, { service: { clock, heartbeatMs: 3_600_000 } });
    const { line, calls, url } = phone;
    const kept = line.ring();
    const gone = line.ring(FAR_END, 'in-gone-2');
    await until('both are recorded', async () => (await calls()).length === 2);
    await phone.node.drop();
    line.node = await linkNode(t, url, { journalId: 'journal-1', onCommand: line.onCommand });
    line.report(kept);
    await line.node.report(received('read after it'));
    await until('the other one is given up', async () => {
      clock.advance(1_000);
      return (await calls()).find(({ call_id }) => call_id === gone.call_id)?.['state'] === 'ended';
    });
    // A round of housekeeping notes that the node lives.
    clock.advance(MINUTE_MS);
    await roundIsOver(clock);
    t.equal((await calls()).find(({ call_id }) => call_id === kept.call_id)?.['state'], 'ringing');
  },
);

t.test('calls that the hello does not have leave room for the one that it has', async (t) => {
  const clock = new ManualClock();
  const phone = await olderTelephone(t, { service: { clock, heartbeatMs: 3_600_000 } });
  const { line, url, presence } = phone;
  const watcher = await presence();
  for (const name of ['in-old-1', 'in-old-2', 'in-old-3', 'in-old-4', 'in-old-5']) line.ring(FAR_END, name);
  await until('five ring', () => watcher.texts.length === 5);
  await phone.node.drop();
  const calls = [inbound('in-new-6')];
  line.node = await linkNode(t, url, { journalId: 'journal-1', onCommand: line.onCommand, calls });
  await until('the sixth rings', () => watcher.of({ kind: 'ringing', call_id: 'in-new-6' }).length === 1);
});

t.test(
  'a node whose disk is full cannot report the end of a call: its line is free after a while',
  async (t) => {
    const clock = new ManualClock();
    const phone = await olderTelephone(t, { service: { clock, heartbeatMs: 3_600_000 } });
    const { line, calls, stream, dial } = phone;
    const endOf = async (callId: string) =>
      (await calls()).find((call) => call['call_id'] === callId && call['reason'] === 'contact_lost');

    const missed = line.ring();
    await until('it rings', async () => (await calls()).length === 1);
    t.match(await dial(), { status: 409, body: { error: 'line_busy' } });
    line.forget(missed);
    await until('the caller has given up', async () => {
      clock.advance(MINUTE_MS);
      return endOf(missed.call_id);
    });
    const dialed = await until('the line is free', async () => {
      const answer = await dial();
      return answer.status === 200 ? answer : undefined;
    });

    const callId = String(dialed.body['call_id']);
    const client = await stream(callId);
    line.answer(callId);
    const media = await until('the media link', () => line.media);
    line.forget({ call_id: callId });
    media.close(callCloseCode(CAUSE.normalClearing));
    t.equal(await client.closed(), 1000);
    await until('the far end has hung up', () => {
      clock.advance(1_000);
      return endOf(callId);
    });
  },
);

t.test('a link that stays away costs the calls after a while, with their streams', async (t) => {
  const clock = new ManualClock();
  const { dial, line, node, calls, presence, stream } = await olderTelephone(t, { service: { clock } });
  const watcher = await presence();
  const { call_id: callId } = line.ring();
  await until('rings', () => watcher.texts.length === 1);
  const client = await stream(callId);
  const media = await until('the media link', () => line.media);
  await node.drop();
  await until('offline', async () => (await dial()).body['reason'] === 'node_offline');
  // In steps, so that pings are answered: a request takes longer than a ping.
  for (let step = 0; step < 13; step += 1) {
    clock.advance(3_000);
    await calls();
  }
  media.capture();
  const heardAt = clock.now();
  await until('it is still heard', () => client.binary.length === 1);
  clock.advance(1_000);
  t.equal(await client.closed(), 4041);
  await until('the record', async () => (await calls())[0]?.['state'] === 'ended');
  const [record] = await calls();
  t.match(record, { reason: 'contact_lost', cause: 41 });
  const endedAt = Date.parse(String(record?.['ended_at']));
  // An instance without the stream may know only of the node's last sign of life.
  if (instanceCount() > 1) t.ok(endedAt <= heardAt, 'until when it was known to be up');
  else t.equal(endedAt, heardAt, 'until when it was known to be up');
});

t.test('a call that is being stored when the link of its node ends is given up as the others', async (t) => {
  const clock = new ManualClock();
  const { db, line, node, calls } = await olderTelephone(t, { service: { clock } });
  const release = await holdCalls(db);
  line.ring();
  await until('it is being stored', waitsForLock(db));
  await node.drop();
  await until('the link has ended', async () => !(await isLinked(db, 'scripted', new Date(clock.now()))));
  release();
  await until('it is stored', async () => (await calls()).length === 1);
  for (let step = 0; step < 14; step += 1) {
    clock.advance(3_000);
    await calls();
  }
  await until('the record', async () => (await calls())[0]?.['state'] === 'ended');
  t.match(await calls(), [{ reason: 'contact_lost', cause: 41 }]);
});

t.test('a service that was killed finds its calls again, or ends them when no node has them', async (t) => {
  const clock = new ManualClock();
  const first = await olderTelephone(t, { service: { clock, heartbeatMs: 3_600_000 } });
  const { call_id: kept } = first.line.ring();
  const { call_id: lost } = first.line.ring(FAR_END, 'in-lost-1');
  await until('noted', async () => (await first.calls()).length === 2);
  await first.node.drop();
  await first.service.stop();
  const second = await rig.start(t, { databaseUrl: first.databaseUrl, clock, heartbeatMs: 3_600_000 });
  const stateOf = async (callId: string) => {
    const response = await fetch(`${second.url}/voice/calls`, { headers: first.headers });
    const { calls } = (await response.json()) as {
      calls: Array<{ call_id: string; state: string; reason: string }>;
    };
    return calls.find(({ call_id }) => call_id === callId);
  };
  t.match(await stateOf(kept), { state: 'ringing' });
  const call = first.line.calls.find(({ call_id }) => call_id === kept);
  await linkNode(t, second.url, {
    journalId: 'journal-1',
    calls: call === undefined ? [] : [call],
    onCommand: first.line.onCommand,
  });
  // As an instance leaves it that is killed with its dialed call.
  const forgotten = 'call_forgotten';
  const now = new Date(clock.now());
  await putCall(
    first.db,
    {
      callId: forgotten,
      subscriptionId: first.subscriptionId,
      number: first.number,
      iccid: String(slotAt(1).iccid),
      nodeId: 'scripted',
      direction: 'outbound',
      peer: FAR_END,
      state: 'dialing',
      startedAt: now,
      answeredAt: null,
      answeredBy: null,
    },
    now,
  );
  for (let minute = 0; minute < 4; minute += 1) {
    clock.advance(MINUTE_MS);
    await roundIsOver(clock);
  }
  for (const callId of [lost, forgotten])
    await until(`${callId} has ended`, async () => (await stateOf(callId))?.state === 'ended');
  t.match(await stateOf(lost), { reason: 'contact_lost' }, 'its node came without it');
  t.match(await stateOf(forgotten), { reason: 'contact_lost' });
  t.match(await stateOf(kept), { state: 'ringing' }, 'a call that its node vouches for is not');
});
