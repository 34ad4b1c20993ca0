// The migration to messages that keep what they told: one that was under way says the same after it.
import { sql } from 'kysely';
import t from 'tap';
import { readMessage } from '#control-plane/store/alert-messages.ts';
import { openAsItIs, openDatabase } from '#control-plane/store/database.ts';
import { migrateTo } from '#control-plane/store/migrations.ts';
import { startPostgres, WITHOUT_SYNC } from '../../fixtures/postgres.ts';

t.test('a message of before keeps its text when its alert changes', { timeout: 120_000 }, async (t) => {
  const postgres = await startPostgres(WITHOUT_SYNC);
  t.teardown(() => postgres.stop());
  const url = await postgres.createDatabase();
  const before = await openAsItIs({ url, connectionsMax: 1 });
  await before.db.connection().execute((connection) => migrateTo(connection, '0014-console'));
  await sql`insert into alerts (id, kind, subject, severity, summary, advice, since, seen_at, raised_at)
    values ('alert_1', 'pool_low', 'pool', 'warning', '1 number', 'Look.', now(), now(), now())`.execute(
    before.db,
  );
  await sql`insert into alert_messages (id, channel, state, created_at)
    values ('msg_1', 'mail', 'open', now())`.execute(before.db);
  await sql`insert into alert_tidings values ('alert_1', 'raised', 'mail', 'msg_1')`.execute(before.db);
  await before.close();
  const { db, close } = await openDatabase({ url, connectionsMax: 1 });
  t.teardown(close);
  await db.updateTable('alerts').set({ severity: 'critical', summary: '0 numbers' }).execute();
  const attempt = { id: 'msg_1', channel: 'mail' as const, createdAt: new Date(), attempt: 1 };
  t.match(await readMessage(db, attempt), {
    ...{ raised: [{ id: 'alert_1', severity: 'warning', summary: '1 number', advice: 'Look.' }] },
    ...{ escalated: [], recovered: [] },
  });
});
