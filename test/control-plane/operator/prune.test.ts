// Revoked nodes and empty slots leave the lists; what a customer has stays.
import t from 'tap';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { identityOf } from '../../fixtures/nodes/enrolled-node.ts';
import { ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const EMPTY = { state: 'sim_absent', iccid: null, number: null } as const;

t.test('a node is removed, and the fleet pruned', { timeout: 180_000 }, async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const operator = await openTestOperator(t, { databaseUrl, url });
  const db = await openTestDatabase(t, databaseUrl);
  const control = (...args: string[]) => runCommand(args, { DATABASE_URL: databaseUrl, DATA_DIR });
  const identity = await identityOf(url, 'lab');
  const node = await ScriptedNode.connect(url, {
    nodeId: 'lab',
    identity,
    slots: [slotAt(1), slotAt(2, EMPTY)],
  });
  const sold = await ScriptedNode.connect(url, { nodeId: 'sold', slots: [slotAt(3), slotAt(4, EMPTY)] });
  t.teardown(() => Promise.all([node.drop(), sold.drop()]));
  const slots = async () =>
    (await operator.call('slots', { limit: 9 })).rows.map((row) => `${row.node}/${row.slot}`);
  await until('all are there', async () => (await slots()).length === 4);
  await subscribeInStore(databaseUrl, ALICE, '+12065550003');

  t.match(await control('node', 'remove', 'lab', '--yes'), { status: 2, stderr: /lab is not revoked/ });
  t.match(await control('node', 'remove', 'nowhere', '--yes'), { status: 2, stderr: /no node "nowhere"/ });
  t.match(await control('prune'), { status: 0, stdout: 'Nothing to remove.\n' }, 'all are linked');

  await operator.call('revokeNode', { node: 'lab' });
  await operator.call('revokeNode', { node: 'sold' });
  await until('their links have ended', () => node.closeCode === 4403 && sold.closeCode === 4403);
  t.match(await control('node', 'remove', 'sold', '--yes'), {
    status: 2,
    stderr: /SIMs of sold hold 1 subscription \(\+1206…0003\)/,
  });
  t.match(await control('node', 'remove', 'lab'), { status: 2, stderr: /with --yes/ });
  t.match(await control('prune'), { stdout: /Would be removed:\n\nnode lab\n\nNothing was done/ });
  t.equal((await operator.call('nodes', {})).length, 2, 'and nothing was');
  t.match(await control('node', 'remove', 'lab', '--yes'), { status: 0, stdout: /lab is removed/ });
  t.same(
    (await operator.call('nodes', {})).map(({ name }) => name),
    ['sold'],
  );
  t.same(await slots(), ['sold/m3', 'sold/m4']);
  const events = await db.selectFrom('node_events').select('id').where('node_id', '=', 'lab').execute();
  t.same(events, []);
  const { rows } = await operator.call('auditLog', { node: 'lab', limit: 9 });
  t.match(rows, [
    { action: 'removeNode', result: 'ok' },
    { action: 'revokeNode' },
    { action: 'removeNode', result: 'refused', why: /not revoked/ },
    { action: 'addNode' },
  ]);
  await t.rejects(ScriptedNode.connect(url, { nodeId: 'lab', identity }), /40[13]/, 'it is refused');

  const kept = [slotAt(5), slotAt(6, EMPTY), slotAt(7, EMPTY)];
  const away = await ScriptedNode.connect(url, { nodeId: 'away', slots: [...kept, slotAt(8, EMPTY)] });
  await until('they are there', async () => (await slots()).length === 6);
  for (const slot of ['m7', 'm8'])
    await operator.call('takeSlotOutOfService', { node: 'away', slot, reason: 'burnt contacts' });
  away.send({ type: 'slots', slots: kept, alarms: [] });
  const reported = () => db.selectFrom('slots').select('slot').where('node_id', '=', 'away').execute();
  await until('one is not reported any more', async () => (await reported()).length === 3);
  t.match(await control('prune', '--yes'), { stdout: 'Nothing to remove.\n' }, 'a mark is not forgotten');
  await away.drop();
  const awayState = async () => (await operator.call('nodes', {})).find(({ name }) => name === 'away')?.state;
  await until('it is away', async () => (await awayState()) === 'enrolled');
  const yesterday = new Date(Date.now() - 25 * 60 * 60_000);
  await db.updateTable('nodes').set({ link_alive_until: yesterday }).where('id', '=', 'away').execute();
  t.match(await control('prune', '--yes'), { stdout: 'Removed:\n\nslot away/m6\n' });
  t.same(
    await slots(),
    ['away/m5', 'away/m7', 'away/m8', 'sold/m3', 'sold/m4'],
    'a slot with a SIM stays, one that is out of service, and one of a customer',
  );
  t.match((await operator.call('auditLog', { limit: 1 })).rows, [
    { action: 'prune', detail: { nodes: [], slots: ['away/m6'] } },
  ]);
  for (const slot of ['m7', 'm8']) await operator.call('putSlotInService', { node: 'away', slot });
  t.match(await control('prune', '--yes'), { stdout: 'Removed:\n\nslot away/m7\n' });
  t.same(await slots(), ['away/m5', 'sold/m3', 'sold/m4']);
});
