// `control-plane node …` as an operator runs it: beside a service, without one, on both databases.
import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { relationsOf } from '../../fixtures/database/lived-database.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { nodeCode } from '../../fixtures/nodes/enrolled-node.ts';
import { linkNode, ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { runNodeCommand } from '../../fixtures/run-node-command.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

const CODE = /^([0-9A-Z]{5}-){3}[0-9A-Z]{5}$/m;

t.test('beside a service on the embedded database, and without it', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = (...args: string[]) => runCommand(['node', ...args], { DATA_DIR: dataDir });
  const first = await control('add', 'lab');
  t.match(first, { status: 0, stdout: CODE, stderr: '' }, 'before any service ran');
  t.match(first.stdout, /\n {2}sudo node-daemon enroll http:\/\/127\.0\.0\.1:8080 [0-9A-Z-]{23}\n/);
  t.match(first.stdout, /^No service runs here, so http:\/\/127\.0\.0\.1:8080 is only the default\./);

  const service = await startControlPlane(rig.chain, { dataDir, heartbeatMs: 60_000 });
  const socket = statSync(join(dataDir, 'operator.sock'));
  t.equal(socket.mode & 0o777, 0o600, 'only its user may open the socket');
  const added = await control('add', 'lab');
  t.match(added, { status: 0, stderr: '' });
  t.match(
    added.stdout,
    `  npx --no-install node-daemon enroll ${service.url} `,
    'with the URL of the service',
  );
  t.notMatch(added.stdout, 'No service runs');
  const folder = join(dataDir, 'node');
  const code = String(CODE.exec(added.stdout)?.[0]);
  const enroll = (...args: string[]) =>
    runNodeCommand(['enroll', service.url, ...args], { DATA_DIR: folder });
  t.match(await enroll(code), { status: 0, stdout: /enrolled as lab/, stderr: '' });
  t.equal(statSync(join(folder, 'identity.json')).mode & 0o777, 0o600);
  const node = await ScriptedNode.connect(service.url, { nodeId: 'other' });
  t.match((await control('list')).stdout, /lab +away +0\nother +linked +1/);
  t.match(await control('revoke', 'other', '--yes'), { status: 0 });
  await until('its link has ended, long before a heartbeat', () => node.closeCode === 4403);
  t.match(await control('revoke', 'no-such-node'), { status: 2, stderr: /no-such-node/ });

  const asked = await control('add', 'lab');
  t.match(asked, {
    status: 2,
    stdout: '',
    stderr:
      /lab exists: enrolled, enrolled on \d{4}-\d\d-\d\d \d\d:\d\dZ, 0 SIMs\. The code replaces its key.*\nNo customer is affected\n.*--yes/,
  });
  const again = await control('add', 'lab', '--yes');
  t.match(again, { status: 0, stdout: /add --replace[\s\S]*\n {2}sudo node-daemon enroll/ });
  const second = String(CODE.exec(again.stdout)?.[0]);
  t.match(await enroll(second), { status: 1, stderr: /node lab .*--data-dir.*--replace/ });
  t.match(await enroll(second, '--replace'), { status: 0, stdout: /enrolled as lab/ });
  const { stdout } = await runCommand(['audit', 'list', '--json'], { DATA_DIR: dataDir });
  const { audit_log } = JSON.parse(stdout) as { audit_log: Array<Record<string, unknown>> };
  const keys = audit_log.filter(({ action }) => action === 'replaceKey');
  t.match(keys, [{ subject: 'lab', detail: { from: /^SHA256:/, to: /^SHA256:/ } }]);
  t.match(await control('add', 'other'), { status: 0 }, 'a revoked node has no key to lose');
  await service.stop();
  t.match(await control('list'), { status: 0, stdout: /other +revoked/, stderr: '' }, 'after it was stopped');
});

t.test('without a database commands are refused, and nothing is created', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const databaseUrl = await rig.postgres.createDatabase();
  for (const command of [
    ['node', 'list'],
    ['alert', 'list'],
    ['operator', 'add', 'ann'],
  ]) {
    t.match(await runCommand(command, { DATA_DIR: dataDir }), {
      status: 2,
      stdout: '',
      stderr: /There is no database in \S+data\/pglite. Give the DATABASE_URL or DATA_DIR/,
    });
    t.notOk(existsSync(dataDir), command.join(' '));
    t.match(await runCommand(command, { DATABASE_URL: databaseUrl }), {
      status: 2,
      stdout: '',
      stderr: /The database at DATABASE_URL is empty/,
    });
  }
  t.equal(await relationsOf(databaseUrl), 0);
});

t.test('several at once without a service: one after the other', async (t) => {
  const dataDir = temporaryFolder(t);
  const env = { DATA_DIR: dataDir };
  t.match(await runCommand(['node', 'add', 'lab'], env), { status: 0 });
  const file = (name: string): string => join(dataDir, `${name}.backup`);
  const commands = [
    ['node', 'list'],
    ['backup', file('a')],
    ['backup', file('b')],
  ];
  const ran = await Promise.all(commands.map((command) => runProgram('control-plane', command, env)));
  for (const each of ran) t.match(each, { status: 0, stderr: '' });
});

t.test('beside a service on Postgres', async (t) => {
  const { url, databaseUrl } = await rig.start(t, { heartbeatMs: 1_000 });
  const env = { DATABASE_URL: databaseUrl, PUBLIC_URL: 'https://sim.example/' };
  const added = await runCommand(['node', 'add', 'lab'], env);
  t.match(added.stdout, / {2}sudo node-daemon enroll https:\/\/sim\.example [0-9A-Z-]{23}/);
  const node = await ScriptedNode.connect(url, { nodeId: 'lab' });
  t.match((await runCommand(['node', 'list'], env)).stdout, /lab +linked +\d/);
  t.match(await runCommand(['node', 'revoke', 'lab', '--yes'], env), { status: 0 });
  await until('its link has ended', () => node.closeCode === 4403);
});

t.test('the list shows since when a node has no link, and how many customers it had', async (t) => {
  const { url, databaseUrl } = await rig.start(t, { heartbeatMs: 100 });
  const node = await linkNode(t, url, { nodeId: 'lab', slots: [slotAt(1)] });
  await subscribeInStore(databaseUrl, ALICE, '+12065550001');
  await node.drop();
  const list = async () => (await runCommand(['node', 'list'], { DATABASE_URL: databaseUrl })).stdout;
  const line = /lab +away +1 +no link since 20\d\d-\d\d-\d\d \d\d:\d\dZ, 1 customer without service$/m;
  await until('the note', async () => line.test(await list()));
  const { stdout } = await runCommand(['slot', 'show', 'lab', 'm1'], { DATABASE_URL: databaseUrl });
  t.match(stdout, /\nCustomer: sub_\w+, node away$/m);
});

t.test('the list shows each slot that serves no number, and why', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const list = async () => (await runCommand(['node', 'list'], { DATABASE_URL: databaseUrl })).stdout;
  const empty = { iccid: null, number: null } as const;
  const slots = [
    slotAt(1, { slot: 'puk', state: 'sim_locked', reason: 'sim_puk', ...empty }),
    slotAt(2, { slot: 'known', state: 'sim_locked', reason: 'sim_pin_wrong' }),
    slotAt(3, { slot: 'stick', state: 'lost', reason: 'mass_storage', ...empty }),
    slotAt(4, { slot: 'new', state: 'starting', ...empty }),
    slotAt(5, { slot: 'well' }),
  ];
  const node = await linkNode(t, url, { nodeId: 'lab', slots, alarms: ['journal_unavailable'] });
  const line =
    /lab +linked +2 +journal unavailable, known SIM locked: the card refused the PIN, new starting, puk SIM locked: the card asks for its PUK, stick modem lost: the stick shows its driver disk$/m;
  await until('the slots', async () => line.test(await list()));
  node.send({ type: 'slots', slots: [slotAt(5)], alarms: [] });
  await until('all are well', async () => /lab +linked +1$/m.test(await list()));
});

t.test('a node’s text steers no terminal', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const text = '\u001b]0;owned\u0007\u001b[2J';
  const slots = [
    slotAt(1, { model: text, operator: text }),
    slotAt(2, { state: 'sim_locked', reason: text }),
  ];
  await linkNode(t, url, { nodeId: 'lab', slots, alarms: [text] });
  const control = (...args: string[]) => runCommand(args, { DATABASE_URL: databaseUrl });
  await until('the slots', async () => /�\]0;owned/.test((await control('slot', 'list')).stdout));
  for (const args of [
    ['node', 'list'],
    ['slot', 'list'],
    ['slot', 'list', '--json'],
    ['number', 'list'],
  ])
    t.notMatch((await control(...args)).stdout.replaceAll('\n', ''), /\p{Cc}/u, args.join(' '));
  const { stderr } = await control('slot', 'in-service', 'lab', 'm1\u009b2J');
  t.notMatch(stderr.replaceAll('\n', ''), /\p{Cc}/u);
});

t.test('enrollment that cannot be says what to do, in one line', async (t) => {
  const { url } = await rig.start(t);
  const folder = temporaryFolder(t);
  const enroll = (at: string, code: string) => runNodeCommand(['enroll', at, code], { DATA_DIR: folder });
  const code = await nodeCode(url, 'lab');
  for (const [answer, line] of [
    [await enroll(url, '00000-00000-00000-00000'), /unknown, used or expired/],
    [await enroll(`http://127.0.0.1:${await freePort()}`, code), /does not answer.*same command again/],
    [await enroll(`${url}/nope`, code), /base URL|Nothing exists at/],
    [await enroll(url, 'abc'), /code.*20/],
    [await enroll('ftp://x', code), /ftp:\/\/x/],
  ] as const) {
    t.match(answer, { status: 1, stderr: line });
    t.equal(answer.stderr.trim().split('\n').length, 1, answer.stderr);
  }
  chmodSync(folder, 0o700);
  t.match(await enroll(url, code), { status: 0 }, 'and then it can be');
});
