// Texts that were acknowledged before their SIM was the node's: they count once it is, whatever link or process ends in between.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { linkNode, type ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const EMPTY = { iccid: null, number: null, state: 'sim_absent' } as const;
const MOVED = { nodeId: 'other', journalId: 'journal-2', slots: [slotAt(1, { slot: 'm7' })] };

/** A SIM that `node` holds, that `other` reports as well, and of which `other` has acknowledged a text. */
async function setUp(t: Test, { heartbeatMs }: { heartbeatMs: number }) {
  const { log, lines } = recordedLog();
  const parts = await subscriber(t, rig, { nodeId: 'honest', service: { heartbeatMs, log } });
  const db = await openTestDatabase(t, parts.databaseUrl);
  const { databaseUrl, url } = parts;
  const operator = await openTestOperator(t, { databaseUrl, url });
  const connect = async (): Promise<ScriptedNode> => {
    const other = await linkNode(t, url, MOVED);
    return other;
  };
  const other = await connect();
  await other.report(received('read in its new slot'));
  const isReported = () =>
    until('its text', async () =>
      (await parts.history()).some(({ body }) => body === 'read in its new slot'),
    );
  return { ...parts, db, operator, other, connect, isReported, lines };
}

// No heartbeat comes to the rescue.
const SLOW = { heartbeatMs: 60_000 };

t.test('a node that links again after a transfer has its texts committed', async (t) => {
  const { operator, other, connect, isReported, db } = await setUp(t, SLOW);
  await other.drop();
  await operator.call('transferSim', { node: 'other', slot: 'm7' });
  await connect();
  await isReported();
  t.same(await db.selectFrom('waiting_facts').select('fact_key').execute(), []);
});

t.test('a text that could not be stored when the SIM came is stored on the next link', async (t) => {
  const { node, other, connect, isReported, db } = await setUp(t, SLOW);
  await sql`alter table messages rename to messages_away`.execute(db);
  node.send({ type: 'slots', slots: [slotAt(1, EMPTY)], alarms: [] });
  await until('its link is given up', () => other.closeCode !== undefined);
  await sql`alter table messages_away rename to messages`.execute(db);
  const holder = db.selectFrom('sim_tenures').select('node_id').where('until', 'is', null);
  t.same(await holder.execute(), [{ node_id: 'other' }], 'the SIM is its own already');
  await connect();
  await isReported();
});

t.test('a text that begins to wait while its SIM comes is committed within a heartbeat', async (t) => {
  const { node, isReported, db } = await setUp(t, { heartbeatMs: 200 });
  // As if it was committed just after the node's slots.
  await sql`create table late as select * from waiting_facts`.execute(db);
  await sql`delete from waiting_facts`.execute(db);
  node.send({ type: 'slots', slots: [slotAt(1, EMPTY)], alarms: [] });
  const holder = db.selectFrom('sim_tenures').select('node_id').where('until', 'is', null);
  await until('the move', async () => (await holder.executeTakeFirst())?.node_id === 'other');
  await sql`insert into waiting_facts (fact_key, node_id, iccid, fact, received_at)
    select fact_key, node_id, iccid, fact, received_at from late`.execute(db);
  await isReported();
  t.same(await db.selectFrom('waiting_facts').select('fact_key').execute(), []);
});

t.test(
  'a text that waited and belongs to no subscription is counted and logged like any other',
  async (t) => {
    const { node, other, isReported, db, lines } = await setUp(t, SLOW);
    const sentAt = new Date(Date.now() - 3_600_000).toISOString();
    await other.report({ ...received('to an earlier subscriber'), sent_at: sentAt });
    node.send({ type: 'slots', slots: [slotAt(1, EMPTY)], alarms: [] });
    await isReported();
    const counts = db.selectFrom('nodes').select('unheld_messages').where('id', '=', 'other');
    t.same(await counts.execute(), [{ unheld_messages: 1 }]);
    const logged = () => lines.filter(({ fields }) => 'unheld' in fields);
    await until('the line', () => logged().length > 0);
    t.match(logged(), [{ level: 'warn', message: 'messages discarded: number not sold when sent' }]);
  },
);
