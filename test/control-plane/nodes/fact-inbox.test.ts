// Facts of one link and a database that fails for a moment: what follows never acknowledges what was not committed.
import { sql } from 'kysely';
import t from 'tap';
import { createLocalBus } from '#control-plane/bus/bus.ts';
import { FactInbox } from '#control-plane/nodes/fact-inbox.ts';
import { openDatabase } from '#control-plane/store/database.ts';
import { systemClock } from '#shared/clock.ts';
import type { Fact } from '#shared/link/messages.ts';
import { silentLogger } from '#shared/log.ts';
import { startPostgres } from '../../fixtures/postgres.ts';
import { until } from '../../fixtures/until.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

const fact = (pdu: string): Fact => ({
  ...{ kind: 'sms_unreadable', iccid: '8901000000000000001', pdu, reason: 'x' },
  received_at: '2026-11-21T08:00:00.000Z',
});

t.test('after a failed commit nothing more is taken', async (t) => {
  const { db, close } = await openDatabase({ url: await postgres.createDatabase(), connectionsMax: 2 });
  t.teardown(close);
  const acknowledged: number[] = [];
  const failures: unknown[] = [];
  const inbox = new FactInbox({
    ...{ db, bus: createLocalBus(), clock: systemClock, log: silentLogger },
    ...{ nodeId: 'lab', journalId: 'journal-1', acknowledged: 0, oldestSequence: 1 },
    acknowledge: (sequence) => acknowledged.push(sequence),
    fail: (error) => failures.push(error),
  });
  await sql`alter table journals rename to journals_away`.execute(db);
  // The second waits while the first is committed.
  t.equal(inbox.push(1, fact('01')), true);
  t.equal(inbox.push(2, fact('02')), true);
  await until('the failure', () => failures.length > 0);
  await inbox.settled();
  await sql`alter table journals_away rename to journals`.execute(db);
  t.equal(inbox.push(3, fact('03')), true, 'no fault of the node');
  await inbox.settled();
  t.same(acknowledged, []);
  t.same(await db.selectFrom('journals').selectAll().execute(), []);
  t.equal(failures.length, 1);
});
