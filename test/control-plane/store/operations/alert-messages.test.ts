// The text of an alert message stays as it was composed.
import { sql } from 'kysely';
import t from 'tap';
import { readMessage } from '#control-plane/store/operations/alert-messages.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';

t.test('a message keeps its text when its alert changes', { timeout: 120_000 }, async (t) => {
  const postgres = await openDatabases(t);
  const url = await postgres.createMigrated();
  const db = await openTestDatabase(t, url);
  await sql`insert into alerts (id, kind, subject, severity, summary, advice, since, seen_at, raised_at)
    values ('alert_1', 'pool_low', 'pool', 'warning', '1 number', 'Look.', now(), now(), now())`.execute(db);
  await sql`insert into alert_messages (id, channel, state, created_at)
    values ('msg_1', 'mail', 'open', now())`.execute(db);
  await sql`insert into alert_tidings
    values ('alert_1', 'raised', 'mail', 'msg_1', 'warning', '1 number', 'Look.')`.execute(db);
  await db.updateTable('alerts').set({ severity: 'critical', summary: '0 numbers' }).execute();
  const attempt = { id: 'msg_1', channel: 'mail' as const, createdAt: new Date(), attempt: 1 };
  t.match(await readMessage(db, attempt), {
    raised: [{ id: 'alert_1', severity: 'warning', summary: '1 number', advice: 'Look.' }],
    escalated: [],
    recovered: [],
  });
});
