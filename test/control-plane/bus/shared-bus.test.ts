// An event that one instance publishes reaches the others on its Postgres, also after their connections broke.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { BusEvent } from '#control-plane/bus/bus.ts';
import { openSharedBus } from '#control-plane/bus/shared-bus.ts';
import { openDatabase } from '#control-plane/store/database/database.ts';
import type { CallRow } from '#control-plane/store/messages/calls.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/manual-clock.ts';
import { openDatabases } from '../../fixtures/postgres.ts';
import { until } from '../../fixtures/until.ts';

const postgres = await openDatabases();
t.teardown(() => postgres.stop());

async function instance(t: Test, url: string) {
  const { db, close } = await openDatabase({ url, connectionsMax: 1 });
  const clock = new ManualClock();
  const bus = await openSharedBus({ url, db, clock, log: silentLogger });
  t.teardown(async () => {
    await bus.stop();
    await close();
  });
  const heard: BusEvent[] = [];
  bus.subscribe((event) => heard.push(event));
  return { bus, clock, db, heard };
}

const changed = (subscriptionId: string): BusEvent => ({ kind: 'subscription_changed', subscriptionId });

t.test('heard once by each instance, by its own at once', async (t) => {
  const url = await postgres.createDatabase();
  const [one, other] = [await instance(t, url), await instance(t, url)];
  one.bus.publish(changed('sub_1'));
  t.same(one.heard, [changed('sub_1')]);
  await until('the other', () => other.heard.length > 0);
  other.bus.publish(changed('sub_2'));
  await until('an answer', () => one.heard.length > 1);
  t.same(
    [one.heard, other.heard],
    [
      [changed('sub_1'), changed('sub_2')],
      [changed('sub_1'), changed('sub_2')],
    ],
  );
});

t.test('a message is the matter of one instance', async (t) => {
  const url = await postgres.createDatabase();
  const [one, other] = [await instance(t, url), await instance(t, url)];
  one.bus.publish({ kind: 'sms_received', subscriptionId: 'sub_1' });
  one.bus.publish(changed('sub_2'));
  await until('the other', () => other.heard.length > 0);
  t.same(other.heard, [changed('sub_2')]);
});

t.test('a connection that breaks is made again', async (t) => {
  const url = await postgres.createDatabase();
  const [one, other] = [await instance(t, url), await instance(t, url)];
  const listeners = async (): Promise<number> => {
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
      where datname = current_database() and application_name = 'simrack-control-plane-bus'`.execute(one.db);
    return rows.length;
  };
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'simrack-control-plane-bus'`.execute(one.db);
  await until('both are gone', async () => (await listeners()) === 0);
  await until('both are back', async () => {
    for (const { clock } of [one, other]) clock.advance(1_000);
    return (await listeners()) === 2;
  });
  // A listener that is connected listens some milliseconds later: published until it is heard.
  await until('heard again', () => {
    one.bus.publish(changed('sub_3'));
    return other.heard.length > 0;
  });
});

t.test('a call is told with all that is known of it', async (t) => {
  const url = await postgres.createDatabase();
  const [one, other] = [await instance(t, url), await instance(t, url)];
  const at = new Date('2026-11-21T08:00:00.123Z');
  const call: Omit<CallRow, 'state'> = {
    callId: 'call_1',
    subscriptionId: 'sub_1',
    number: '+12065550001',
    iccid: '8901000000000000001',
    nodeId: 'n',
    direction: 'inbound',
    peer: 'O\'Hara \u260e "x"',
    startedAt: at,
    answeredAt: null,
  };
  const events: BusEvent[] = [
    { kind: 'call_changed', instance: 'i', call: { ...call, state: 'ringing' } },
    { kind: 'call_ended', call: { ...call, endedAt: at, reason: 'cancelled', cause: 16 } },
  ];
  for (const event of events) one.bus.publish(event);
  await until('the other', () => other.heard.length === 2);
  t.same(other.heard, events);
});
