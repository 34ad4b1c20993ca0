// Many nodes at once: their work leaves connections of the database to requests.
import { Client } from 'pg';
import t from 'tap';
import { ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const CONNECTIONS = 6;
const NODES = 10;

t.test('reports of slots that wait in the database do not hold up requests', async (t) => {
  const { url, databaseUrl } = await rig.start(t, { databaseConnections: CONNECTIONS });
  const blocker = new Client({ connectionString: databaseUrl });
  await blocker.connect();
  t.teardown(() => blocker.end());
  // Others may read.
  await blocker.query('begin; lock table sims in exclusive mode');
  const waiting = async () => {
    const { rows } = await blocker.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.count ?? 0;
  };
  const nodes: ScriptedNode[] = [];
  t.teardown(() => Promise.all(nodes.map((node) => node.drop())));
  for (let index = 1; index <= NODES; index += 1)
    nodes.push(await ScriptedNode.connect(url, { nodeId: `n-${index}`, slots: [slotAt(index)] }));
  await until('reports wait', async () => (await waiting()) > 0);
  const available = async (): Promise<number> => {
    const response = await fetch(`${url}/availability`);
    t.equal(response.status, 200, 'a request is answered meanwhile');
    return ((await response.json()) as { available: number }).available;
  };
  t.equal(await available(), 0);
  t.ok((await waiting()) < CONNECTIONS, 'some connections are left');
  await blocker.query('rollback');
  await until('all reports are stored', async () => (await available()) === NODES);
  t.same(
    nodes.map(({ closeCode }) => closeCode),
    nodes.map(() => undefined),
    'no link was closed',
  );
});
