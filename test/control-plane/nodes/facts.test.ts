// The state of sent messages when reports and outcomes come in any order.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { applyFacts } from '#control-plane/nodes/facts.ts';
import { insertSending } from '#control-plane/store/messages/messages.ts';
import type { Fact } from '#shared/link/messages.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';

const NOW = new Date('2026-11-21T08:00:00.000Z');
const postgres = await openDatabases(t);

const accepted = (command_id: string, ...message_references: number[]): Fact => ({
  kind: 'sms_outcome',
  command_id,
  outcome: { status: 'accepted', message_references, at: NOW.toISOString() },
});

const TP_STATUS = { delivered: 0x00, failed: 0x41, expired: 0x46 };

function report(
  command_id: string,
  status: keyof typeof TP_STATUS,
  { reference = 7, part = 1, parts = 1 } = {},
): Fact {
  return {
    kind: 'sms_report',
    iccid: '8901000000000000017',
    command_id,
    message_reference: reference,
    recipient: '+15550000012',
    part,
    parts,
    status,
    tp_status: TP_STATUS[status],
    at: NOW.toISOString(),
  };
}

async function setUp(t: Test) {
  const db = await openTestDatabase(t, await postgres.createMigrated());
  // The holder of the messages is of no interest.
  await sql`alter table messages drop constraint messages_subscription_id_fkey`.execute(db);
  await sql`alter table receipts drop constraint receipts_subscription_id_fkey`.execute(db);
  /** The message, once the facts came in this order. */
  return async (commandId: string, facts: readonly Fact[]) => {
    const message = { from: '+15550000001', to: '+15550000012', body: 'x', now: NOW };
    await insertSending(db, { commandId, nodeId: 'lab', subscriptionId: 'sub_1', ...message });
    for (const [place, fact] of facts.entries()) {
      const key = `lab/${commandId}/${place}`;
      await db.transaction().execute((trx) => applyFacts(trx, [{ key, fact }], NOW));
    }
    const select = db.selectFrom('messages').select(['status', 'message_id']);
    return await select.where('command_id', '=', commandId).executeTakeFirstOrThrow();
  };
}

t.test('an end that came before the acceptance stays, and the message has its id', async (t) => {
  const after = await setUp(t);
  for (const status of ['delivered', 'failed', 'expired'] as const) {
    t.same(await after(status, [report(status, status), accepted(status, 7)]), {
      status,
      message_id: `${status}.7`,
    });
  }
  t.same(await after('alone', [report('alone', 'delivered')]), {
    status: 'delivered',
    message_id: 'alone.7',
  });
});

t.test('of several segments: the id is of the first, whichever is reported', async (t) => {
  const after = await setUp(t);
  const second = { reference: 9, part: 2, parts: 2 };
  t.same(await after('a', [report('a', 'failed', second)]), { status: 'failed', message_id: null });
  t.same(await after('b', [report('b', 'failed', second), accepted('b', 8, 9)]), {
    status: 'failed',
    message_id: 'b.8',
  });
  const first = report('c', 'delivered', { reference: 8, part: 1, parts: 2 });
  t.same(await after('c', [first, accepted('c', 8, 9)]), { status: 'queued', message_id: 'c.8' });
  t.same(await after('d', [report('d', 'delivered', second), accepted('d', 8, 9)]), {
    status: 'queued',
    message_id: 'd.8',
  });
});

t.test('a late acceptance overrides an outcome that was concluded from silence', async (t) => {
  const after = await setUp(t);
  const silent: Fact = {
    kind: 'sms_outcome',
    command_id: 'a',
    outcome: { status: 'unknown', message: 'no answer', at: NOW.toISOString() },
  };
  t.same(await after('a', [silent, accepted('a', 7), report('a', 'failed')]), {
    status: 'failed',
    message_id: 'a.7',
  });
  t.same(await after('b', [accepted('b', 7), accepted('b', 8)]), { status: 'queued', message_id: 'b.7' });
});

t.test('an impossible time of a node is corrected, and every other one kept', async (t) => {
  const db = await openTestDatabase(t, await postgres.createMigrated());
  await sql`insert into numbers values ('+12065550001', '8901000000000000017', now())`.execute(db);
  await sql`insert into subscriptions (id, wallet, number, created_at, expires_at)
    values ('sub_1', '0x01', '+12065550001', now(), now() + interval '1 year')`.execute(db);
  const hours = (count: number): string => new Date(NOW.getTime() + count * 3_600_000).toISOString();
  const cases = [
    { what: 'now', received: 0, sent: 0, stored: 0 },
    { what: 'waited on the node', received: -20, sent: -20, stored: -20 },
    { what: 'waited at the service centre', received: 0, sent: -72, stored: 0 },
    { what: 'in the future', received: 9_600, sent: 0, stored: 0 },
    { what: 'long before it was sent', received: -9_600, sent: -2, stored: -2 },
    { what: 'a service centre of a wrong zone', received: -20, sent: -6, stored: -20 },
    { what: 'a service centre in the future', received: -20, sent: 9_600, stored: -20 },
    { what: 'a service centre long ago', received: -20, sent: -9_600, stored: -20 },
    { what: 'without the time of a service centre', received: -9_600, sent: undefined, stored: -9_600 },
  ];
  const facts = cases.map(({ what, received, sent }): { key: string; fact: Fact } => ({
    key: what,
    fact: {
      kind: 'sms_received',
      iccid: '8901000000000000017',
      from: '+13105550188',
      body: what,
      sent_at: sent === undefined ? null : hours(sent),
      received_at: hours(received),
      partial: false,
    },
  }));
  await db.transaction().execute((trx) => applyFacts(trx, facts, NOW));
  const rows = await db.selectFrom('messages').select(['body', 'received_at']).orderBy('id').execute();
  t.same(
    rows.map(({ body, received_at }) => [body, received_at?.toISOString()]),
    cases.map(({ what, stored }) => [what, hours(stored)]),
  );
});
