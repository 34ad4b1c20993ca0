// Slots, the audit log and quarantine as an operator meets them, on both databases; a modem that is restarted over its link.
import t, { type Test } from 'tap';
import { readFleet } from '#control-plane/store/fleet/fleet-nodes.ts';
import { LINK_CLOSE } from '#shared/link/close.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { acceptAll, linkNode, ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { modemStack } from '../../fixtures/stacks/modem-stack.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

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
  const node = await linkNode(t, url, { nodeId: 'lab', slots, onCommand });
  const available = () => availableAt(url);
  await until('on sale', async () => (await available()) === 2);
  const operator = await openTestOperator(t, where);
  return { node, operator, available };
}

t.test(
  'settings for calls that differ from what the network needs are marked',
  { timeout: 120_000 },
  async (t) => {
    const { url, where } = await onPostgres(t);
    const detail = 'carrier_profile: ROW_Generic_3GPP, not Commercial-TMO_VoLTE\u0000';
    const settings = { network: '310260', why: null, detail: null };
    const slots = [
      slotAt(1, { voice_settings: { ...settings, state: 'right' } }),
      slotAt(2, { voice_settings: { ...settings, state: 'differs', why: 'refused', detail } }),
      slotAt(3),
    ];
    const node = await linkNode(t, url, { nodeId: 'lab', slots });
    const operator = await openTestOperator(t, where);
    const listed = async () =>
      (await operator.call('slots', { sort: { by: 'calls_set_up' }, limit: 10 })).rows.map((row) => [
        row.slot,
        row.voice_settings?.state,
      ]);
    await until('the slots are stored', async () => (await listed()).length === 3);
    t.same(await listed(), [
      ['m2', 'differs'],
      ['m1', 'right'],
      ['m3', undefined],
    ]);
    const env = { DATABASE_URL: String(where.databaseUrl), DATA_DIR };
    const show = async (...args: string[]) => (await runCommand(['slot', ...args], env)).stdout;
    t.match(
      await show('show', 'lab', 'm2'),
      /Calls set up +no \(refused\)[\s\S]*ROW_Generic_3GPP, not Commercial-TMO_VoLTE/,
    );
    t.match(await show('show', 'lab', 'm1'), /Calls set up +yes\n/);
    t.notMatch(await show('show', 'lab', 'm3'), /Calls set up/);
    t.match(JSON.parse(await show('show', 'lab', 'm2', '--json')), { voice_settings: { why: 'refused' } });
    t.match(await show('list', '--csv'), /no \(refused\)/);
    t.match(
      (await readFleet(await openTestDatabase(t, String(where.databaseUrl)), new Date()))[0]?.slots[1],
      {
        voiceSettings: { state: 'differs' },
      },
    );
    node.send({ type: 'slots', slots: slots.map(({ voice_settings: _, ...slot }) => slot), alarms: [] });
    await until('they are right, or not known', async () =>
      (await operator.call('slots', { limit: 10 })).rows.every(
        ({ voice_settings }) => voice_settings === null,
      ),
    );
  },
);

for (const [name, start] of Object.entries({ Postgres: onPostgres, PGlite: onPglite })) {
  t.test(
    `a slot out of service is not sold, and is listed and audited (${name})`,
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

t.test('the answer of a node about a restart is explained in plain words', { timeout: 60_000 }, async (t) => {
  let code: 'command_unknown' | 'line_busy' | undefined = 'command_unknown';
  const { operator, node } = await connected(t, await onPostgres(t), (command) =>
    command.name === 'restart_modem' && code !== undefined
      ? { type: 'refusal', id: command.id, code, message: 'no' }
      : acceptAll(command),
  );
  const restart = (force = false) => operator.call('restartModem', { node: 'lab', slot: 'm1', force });
  await t.rejects(restart(), /lab is too old to restart a modem from here. Upgrade it/);
  code = 'line_busy';
  await t.rejects(restart(), /This modem has a call/);
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
  const control = (...args: string[]) => runCommand(args, { DATABASE_URL: where.databaseUrl, DATA_DIR });
  t.match(await control('slot', 'out-of-service', 'lab', 'm2', '--reason', 'loose'), { status: 0 });
  t.match(
    (await control('slot', 'list')).stdout,
    /lab +m2 +out of service +\+12065550002 +- +00101 +\S+ \S+ +loose/,
  );
  await subscribeInStore(where.databaseUrl, ALICE, '+12065550002');
  const [held, full, json] = await Promise.all([
    control('slot', 'list'),
    control('slot', 'list', '--full'),
    control('slot', 'list', '--json'),
  ]);
  t.match(
    held.stdout,
    /lab +m1 +in service +\+12065550001 .*\nlab +m2 +out of service +\+1206…0002 +- +00101 .* loose/,
  );
  t.match(full.stdout, /lab +m2 +out of service +\+12065550002 /);
  t.match(JSON.parse(json.stdout).slots, [
    { number: '+12065550001' },
    { number: '+1206…0002', is_held: true },
  ]);
  t.match(await control('slot', 'restart', 'lab', 'm7'), { status: 2, stderr: /not reported a slot/ });
  t.match(await control('probe', 'send', '+12065550001', '+12065550001'), { status: 2, stderr: /two/ });
  t.match((await control('probe', 'list')).stdout, /^No probes/);
  t.match((await control('audit', 'list')).stdout, /command line +take slot out of service +lab\/m2 +done/);
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
  t.notMatch(whole, '+13105550188', 'a number that is not ours is not kept');
});

t.test('a node whose key waits for an operator', { timeout: 60_000 }, async (t) => {
  const { url, databaseUrl } = await rig.start(t, { enrolmentApproval: true });
  const operator = await openTestOperator(t, { databaseUrl, url });
  await t.rejects(ScriptedNode.connect(url, { nodeId: 'lab' }), /409/, 'its link is refused');
  const [listed] = await operator.call('nodes', {});
  t.match(listed, { name: 'lab', state: 'pending', fingerprint: /^SHA256:[\w+/]{43}$/ });
  const other = `SHA256:${'A'.repeat(43)}`;
  await t.rejects(
    operator.call('approveNode', { node: 'lab', fingerprint: other }),
    /The key of lab is SHA256:\S+, not the one that you gave/,
  );
  t.match((await operator.call('nodes', {}))[0], { state: 'pending' }, 'and that approved nothing');
  await t.rejects(operator.call('approveNode', { node: 'no-such-node' }), /no node "no-such-node"/);
  const { fingerprint } = await operator.call('approveNode', { node: 'lab' });
  t.equal(fingerprint, listed?.fingerprint);
  const node = await linkNode(t, url, { nodeId: 'lab' });
  t.match((await operator.call('nodes', {}))[0], { state: 'linked' });
  await operator.call('revokeNode', { node: 'lab' });
  await until('its link ends', () => node.closeCode === LINK_CLOSE.revoked, 20_000);
});

t.test('a number in quarantine is listed with its end, and released', { timeout: 60_000 }, async (t) => {
  const { url, where } = await onPostgres(t);
  const { operator, available } = await connected(t, { url, where });
  const db = await openTestDatabase(t, where.databaseUrl);
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
