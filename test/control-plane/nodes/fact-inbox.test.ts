// Facts of one link and a database that fails for a moment: what follows never acknowledges what was not committed.
import { sql } from 'kysely';
import t from 'tap';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { FactInbox } from '#control-plane/nodes/fact-inbox.ts';
import type { DatabaseTransaction } from '#control-plane/store/database/database.ts';
import { setAcknowledged } from '#control-plane/store/fleet/node-links.ts';
import { systemClock } from '#shared/clock.ts';
import type { Fact } from '#shared/link/messages.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { until } from '../../fixtures/until.ts';

const postgres = await openDatabases(t);

const fact = (pdu: string): Fact => ({
  kind: 'sms_unreadable',
  iccid: '8901000000000000001',
  pdu,
  reason: 'x',
  received_at: '2026-11-21T08:00:00.000Z',
});

t.test('after a failed commit nothing more is taken', async (t) => {
  const db = await openTestDatabase(t, await postgres.createMigrated());
  const acknowledged: number[] = [];
  const failures: unknown[] = [];
  const inbox = new FactInbox({
    db,
    bus: new LocalBus(systemClock),
    clock: systemClock,
    log: silentLogger,
    nodeId: 'lab',
    journalId: 'journal-1',
    acknowledged: 0,
    oldestSequence: 1,
    slotsWritten: async () => undefined,
    acknowledge: (sequence) => acknowledged.push(sequence),
    fail: (error) => failures.push(error),
  });
  await sql`alter table journals rename to journals_away`.execute(db);
  // The second waits while the first is committed.
  t.equal(inbox.push(1, fact('01')), true);
  t.equal(inbox.push(2, fact('02')), true);
  await until('the failure', () => failures.length > 0);
  await inbox.idle();
  await sql`alter table journals_away rename to journals`.execute(db);
  t.equal(inbox.push(3, fact('03')), true, 'no fault of the node');
  await inbox.idle();
  t.same(acknowledged, []);
  t.same(await db.selectFrom('journals').selectAll().execute(), []);
  t.equal(failures.length, 1);
});

t.test('a fact that waited for the commit of a replaced link is not older than its messages', async (t) => {
  const db = await openTestDatabase(t, await postgres.createMigrated());
  const clock = new ManualClock(Date.parse('2026-11-21T08:00:00.000Z'));
  await sql`insert into nodes (id) values ('lab')`.execute(db);
  await sql`insert into sim_tenures (iccid, node_id, slot, since, sighting, sighting_since)
    values ('8901000000000000001', 'lab', 'm1', now(), 'present', now())`.execute(db);
  await sql`insert into numbers (number, iccid, created_at)
    values ('+12065550001', '8901000000000000001', now())`.execute(db);
  await sql`insert into subscriptions (id, wallet, number, created_at, expires_at)
    values ('sub_1', '0x01', '+12065550001', now(), now() + interval '1 year')`.execute(db);
  const inbox = new FactInbox({
    db,
    bus: new LocalBus(systemClock),
    clock,
    log: silentLogger,
    nodeId: 'lab',
    journalId: 'journal-1',
    acknowledged: 1,
    oldestSequence: 1,
    slotsWritten: async () => undefined,
    acknowledge: () => undefined,
    fail: (error) => t.fail(String(error)),
  });
  const committed = (trx: DatabaseTransaction, sequence: number): Promise<number> =>
    setAcknowledged(trx, { nodeId: 'lab', journalId: 'journal-1', sequence });
  await db.transaction().execute((trx) => committed(trx, 1));
  const other = await db.startTransaction().execute();
  await committed(other, 2);
  inbox.push(3, {
    kind: 'sms_received',
    iccid: '8901000000000000001',
    from: '+12065550100',
    body: 'later',
    partial: false,
    sent_at: null,
    received_at: '2026-11-21T08:00:00.000Z',
  });
  await until('it waits', waitsForLock(db));
  clock.advance(5_000);
  await other.commit().execute();
  await inbox.idle();
  const rows = await db.selectFrom('messages').select(['body', 'created_at']).execute();
  t.same(rows, [{ body: 'later', created_at: new Date('2026-11-21T08:00:05.000Z') }]);
});
