// Slots, the audit log and quarantine as an operator meets them, on both databases; a modem that is restarted over its link.
import t, { type Test } from 'tap';
import { openOperator } from '#control-plane/operator/open-operator.ts';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { LINK_CLOSE } from '#shared/link/close.ts';
import { BUYERS, type Wallet } from '../../dev-stack/wallets.ts';
import { startControlPlane } from '../../fixtures/control-plane.ts';
import { DATA_DIR } from '../../fixtures/data-dir.ts';
import { modemStack } from '../../fixtures/modem-stack.ts';
import { createRig } from '../../fixtures/rig.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { acceptAll, ScriptedNode, slotAt } from '../../fixtures/scripted-node.ts';
import { temporaryFolder } from '../../fixtures/started-stack.ts';
import { subscribeInStore } from '../../fixtures/subscribed.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const [ALICE] = BUYERS as [Wallet];

async function onPostgres(t: Test) {
  const { url, databaseUrl } = await rig.start(t);
  return { url, where: { databaseUrl, dataDir: DATA_DIR, url } };
}

async function onPglite(t: Test) {
  const dataDir = temporaryFolder(t);
  const service = await startControlPlane(rig.chain, { dataDir });
  t.teardown(() => service.stop());
  return { url: service.url, where: { databaseUrl: undefined, dataDir, url: service.url } };
}

async function connected(
  t: Test,
  { url, where }: Awaited<ReturnType<typeof onPostgres | typeof onPglite>>,
  onCommand = acceptAll,
) {
  const slots = [slotAt(1), slotAt(2), slotAt(3, { state: 'sim_absent', iccid: null, number: null })];
  const node = await ScriptedNode.connect(url, { nodeId: 'lab', slots, onCommand });
  t.teardown(() => node.drop());
  const available = async (): Promise<number> =>
    ((await (await fetch(`${url}/availability`)).json()) as { available: number }).available;
  await until('on sale', async () => (await available()) === 2);
  const { close, ...operator } = await openOperator(where);
  t.teardown(close);
  return { node, operator, available };
}

for (const [name, start] of Object.entries({ Postgres: onPostgres, PGlite: onPglite })) {
  t.test(
    `a slot out of service: not sold, listed, written down (${name})`,
    { timeout: 180_000 },
    async (t) => {
      const { operator, available } = await connected(t, await start(t));
      const place = { node: 'lab', slot: 'm2' };
      await operator.call('takeSlotOutOfService', { ...place, reason: 'a bent pin' });
      t.equal(await available(), 1);
      t.match((await operator.call('numbers', { limit: 10 })).rows, [
        { number: '+12065550001', state: 'available', reason: null },
        { number: '+12065550002', state: 'out_of_service', reason: 'slot: a bent pin' },
      ]);
      t.match((await operator.call('slots', { limit: 10 })).rows, [
        { slot: 'm1', state: 'registered', number: '+12065550001', reason: null },
        { slot: 'm2', state: 'registered', by: 'operator', reason: 'a bent pin', out_of_service_at: String },
        { slot: 'm3', state: 'sim_absent', number: null },
      ]);
      const first = await operator.call('slots', { limit: 1 });
      t.match(first.next, { node: 'lab', slot: 'm1' });
      const rest = await operator.call('slots', { limit: 2, after: first.next ?? place });
      t.same(
        rest.rows.map(({ slot }) => slot),
        ['m2', 'm3'],
      );
      await t.rejects(
        operator.call('putSlotInService', { node: 'lab', slot: 'm9' }),
        /not reported a slot "m9"/,
      );
      await t.rejects(
        operator.call('putSlotInService', { node: 'nowhere', slot: 'm2' }),
        /no node "nowhere"/,
      );
      await operator.call('putSlotInService', place);
      await operator.call('putSlotInService', place);
      t.equal(await available(), 2);
      await operator.call('restartModem', { node: 'lab', slot: 'm1' });
      await t.rejects(operator.call('releaseNumber', { number: '+12065550001' }), /not in quarantine/);

      const { rows, next } = await operator.call('auditLog', { limit: 5 });
      t.match(rows, [
        { action: 'releaseNumber', result: 'refused', why: /not in quarantine/, subject: '+12065550001' },
        { action: 'restartModem', result: 'ok', subject: 'lab/m1', detail: { force: false } },
        { action: 'putSlotInService', result: 'ok', subject: 'lab/m2', why: null },
        { action: 'putSlotInService', result: 'ok' },
        { action: 'putSlotInService', result: 'refused', subject: 'nowhere/m2' },
      ]);
      const older = await operator.call('auditLog', { limit: 5, after: Number(next) });
      t.match(older.rows, [
        { action: 'putSlotInService', result: 'refused', subject: 'lab/m9' },
        { action: 'takeSlotOutOfService', detail: { reason: 'a bent pin' }, actor: 'command line' },
        { action: 'addNode', subject: 'lab' },
      ]);
      await operator.call('revokeNode', { node: 'lab' });
      await until('off sale', async () => (await available()) === 0);
    },
  );
}

t.test('what a node answers about a restart, in words for people', { timeout: 60_000 }, async (t) => {
  let code: 'command_unknown' | 'line_busy' | undefined = 'command_unknown';
  const { operator, node } = await connected(t, await onPostgres(t), (command) =>
    command.name === 'restart_modem' && code !== undefined
      ? { type: 'refusal', id: command.id, code, message: 'no' }
      : acceptAll(command),
  );
  const restart = (force = false) => operator.call('restartModem', { node: 'lab', slot: 'm1', force });
  await t.rejects(restart(), /lab is too old to restart a modem from here: upgrade it/);
  code = 'line_busy';
  await t.rejects(restart(), /this modem has a call/);
  code = undefined;
  await restart(true);
  t.match(node.commands('restart_modem').at(-1)?.params, { slot: 'm1', force: true });
  await node.drop();
  await until(
    'it is away',
    async () => (await operator.call('slots', { limit: 1 })).rows[0]?.state === 'node_away',
  );
  await t.rejects(restart(), /lab did not get the request: the phone node is offline/);
  t.match((await operator.call('auditLog', { limit: 1 })).rows, [
    { action: 'restartModem', result: 'refused', why: /offline/ },
  ]);
});

t.test('the real daemon restarts a modem, and serves it again', { timeout: 180_000 }, async (t) => {
  const { operator, simulator, slotOf, available, db } = await modemStack(t, rig, { modems: 2 });
  const { node, slot } = slotOf(0);
  const resets = () => db.selectFrom('node_events').selectAll().where('slot', '=', slot).execute();
  await operator.call('restartModem', { node, slot });
  await until('the step', async () => (await resets()).some(({ detail }) => detail === 'restart: requested'));
  await until('it is away', async () => (await available()) === 1);
  await until('it is back', async () => (await available()) === 2, 60_000);
  t.equal(simulator.modems.length, 2);
  await t.rejects(operator.call('restartModem', { node, slot: 'nothing' }), /not reported a slot/);
});

t.test('the commands', { timeout: 180_000 }, async (t) => {
  const { url, where } = await onPostgres(t);
  await connected(t, { url, where });
  const control = (...args: string[]) =>
    runProgram('control-plane', args, { DATABASE_URL: where.databaseUrl, DATA_DIR });
  t.match(await control('slot', 'out-of-service', 'lab', 'm2', '--reason', 'loose'), { status: 0 });
  t.match(
    (await control('slot', 'list')).stdout,
    /lab +m2 +registered +\+12065550002 +00101 +\S+ \S+ +loose/,
  );
  await subscribeInStore(where.databaseUrl, ALICE, '+12065550002');
  const [held, full, json] = await Promise.all([
    control('slot', 'list'),
    control('slot', 'list', '--full'),
    control('slot', 'list', '--json'),
  ]);
  t.match(
    held.stdout,
    /lab +m1 +registered +\+12065550001 .*\nlab +m2 +registered +\+1206…0002 +00101 .* loose/,
  );
  t.match(full.stdout, /lab +m2 +registered +\+12065550002 /);
  t.match(JSON.parse(json.stdout).slots, [
    { number: '+12065550001' },
    { number: '+1206…0002', is_held: true },
  ]);
  t.match(await control('slot', 'restart', 'lab', 'm7'), { status: 2, stderr: /not reported a slot/ });
  t.match(await control('probe', 'send', '+12065550001', '+12065550001'), { status: 2, stderr: /two/ });
  t.match((await control('probe', 'list')).stdout, /^No probes/);
  t.match((await control('audit', 'list')).stdout, /command line +take slot out of service +lab\/m2 +ok/);
  t.match(await control('number', 'release', '+12065550001'), { status: 2, stderr: /not in quarantine/ });
  t.match(await control('probe', 'send', '+12065550001', '+13105550188'), {
    status: 2,
    stderr: /not a number of/,
  });
  const written = (await control('audit', 'list')).stdout;
  t.match(written, /send test +\+1206…0001 +refused +\+1310…0188 is not a number of this service/);
  t.match(written, /release number +\+1206…0001 +refused +\+1206…0001 is not in quarantine/);
  const whole = (await control('audit', 'list', '--full')).stdout;
  t.match(whole, /release number +\+12065550001 /);
  t.notMatch(whole, '+13105550188', 'what is none of ours is not kept');
});

t.test('a node whose key waits for an operator', { timeout: 60_000 }, async (t) => {
  const { url, databaseUrl } = await rig.start(t, { enrolmentApproval: true });
  const { close, ...operator } = await openOperator({ databaseUrl, dataDir: DATA_DIR, url });
  t.teardown(close);
  await t.rejects(ScriptedNode.connect(url, { nodeId: 'lab' }), /409/, 'its link is refused');
  const [listed] = await operator.call('nodes', {});
  t.match(listed, { name: 'lab', state: 'pending', fingerprint: /^SHA256:[\w+/]{43}$/ });
  const other = `SHA256:${'A'.repeat(43)}`;
  await t.rejects(operator.call('approveNode', { node: 'lab', fingerprint: other }), /now has another key/);
  t.match((await operator.call('nodes', {}))[0], { state: 'pending' }, 'and that approved nothing');
  await t.rejects(operator.call('approveNode', { node: 'no-such-node' }), /no node "no-such-node"/);
  const { fingerprint } = await operator.call('approveNode', { node: 'lab' });
  t.equal(fingerprint, listed?.fingerprint);
  const node = await ScriptedNode.connect(url, { nodeId: 'lab' });
  t.teardown(() => node.drop());
  t.match((await operator.call('nodes', {}))[0], { state: 'linked' });
  await operator.call('revokeNode', { node: 'lab' });
  await until('its link ends', () => node.closeCode === LINK_CLOSE.revoked, 20_000);
});

t.test('a number in quarantine is listed with its end, and released', { timeout: 60_000 }, async (t) => {
  const { url, where } = await onPostgres(t);
  const { operator, available } = await connected(t, { url, where });
  const { db, close } = await openDatabase({ url: where.databaseUrl, connectionsMax: 1 });
  t.teardown(close);
  const until = new Date(Date.now() + 86_400_000);
  const number = '+12065550001';
  await db.updateTable('numbers').set({ quarantined_until: until }).where('number', '=', number).execute();
  t.equal(await available(), 1);
  t.match((await operator.call('numbers', { state: 'quarantined', limit: 10 })).rows, [
    { number, state: 'quarantined', quarantined_until: until.toISOString() },
  ]);
  await operator.call('releaseNumber', { number });
  t.equal(await available(), 2);
  await t.rejects(operator.call('releaseNumber', { number }), /not in quarantine/);
});
