// `node-daemon doctor` as an operator runs it: with a daemon and without, as root and as an unprivileged user, with problems.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startSimulator } from '#hardware-sim/simulator.ts';
import { type DoctorReport, reportSchema } from '#node-daemon/doctor/report/report.ts';
import { startDaemonOnRack } from '../../fixtures/nodes/daemon-on-rack.ts';
import { writeIdentity } from '../../fixtures/nodes/enrolled-node.ts';
import { type Ran, runProgram } from '../../fixtures/run-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { undisturbed } from '../../fixtures/undisturbed.ts';
import { until } from '../../fixtures/until.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';
import { ScriptedControlPlane } from '../link/scripted-control-plane.ts';
import { findingOf } from './examined-rack.ts';

/** No program of the system is found there: what a machine says of its clock is not this test's business. */
const PATH = '/nonexistent';

const doctor = (env: Record<string, string>, ...args: string[]): Promise<Ran> =>
  runProgram('node-daemon', ['doctor', ...args], { PATH, ...env });
const reportIn = ({ stdout }: Ran): DoctorReport => reportSchema.parse(JSON.parse(stdout));

t.test('16 healthy modems, through the daemon that has them: nothing to do, exit code 0', async (t) => {
  const { dataFolder, plane, simulator } = await startDaemonOnRack(t, {
    rack: { modems: 16, makes: ['quectel', 'simcom', 'huawei-e303'] },
  });
  const env = {
    DATA_DIR: dataFolder,
    SYSFS_ROOT: join(simulator.dir, 'sys'),
    DEV_ROOT: join(simulator.dir, 'dev'),
  };
  const text = await doctor(env);
  t.equal(text.status, 0);
  t.equal(text.stderr, '');
  t.match(text.stdout, /16 slots: nothing to do/);
  // A modem whose program waits for a processor answers slowly, and the doctor says that.
  const reported = await undisturbed(
    async () => reportIn(await doctor(env, '--json', '--loop-test')),
    ({ verdict }) => verdict === 'ok',
  );
  t.match(reported, { verdict: 'ok', daemon: 'running', counts: { problem: 0, warning: 0 } });
  t.equal(reported.slots.length, 16);
  t.match(findingOf(reported, 'link'), { verdict: 'ok', seen: 'up' });
  t.match(findingOf(reported, 'audio_loop', '1-1.1'), { verdict: 'ok' });
  const elsewhere = reportIn(await doctor({ DATA_DIR: dataFolder, SYSFS_ROOT: dataFolder }, '--json'));
  t.match(
    findingOf(elsewhere, 'modems'),
    { verdict: 'warning', advice: /--sysfs-root/ },
    'the host is another',
  );
  t.match(findingOf(elsewhere, 'registration', '1-1.1'), { verdict: 'ok' });
  t.ok(plane.modemState(simulator.modems[0]?.identity.imei ?? '') === 'registered', 'the daemon goes on');
  t.same(plane.framesOf('event'), [], 'and nothing has happened to a modem');
});

t.test('a daemon that hangs is reported, and the host is examined all the same', async (t) => {
  const { daemon, dataFolder, simulator } = await startDaemonOnRack(t, { rack: { modems: 1 } });
  const env = {
    DATA_DIR: dataFolder,
    SYSFS_ROOT: join(simulator.dir, 'sys'),
    DEV_ROOT: join(simulator.dir, 'dev'),
  };
  daemon().kill('SIGSTOP');
  const ran = await doctor(env, '--json');
  daemon().kill('SIGCONT');
  t.equal(ran.status, 2);
  const report = reportIn(ran);
  t.match(findingOf(report, 'link'), { verdict: 'problem', seen: /no answer/ });
  t.match(findingOf(report, 'usb_power', '1-1.1'), { verdict: 'ok' });
  t.ok(report.duration_ms < 20_000, `${report.duration_ms} ms`);
});

t.test(
  'a modem that goes mute under a daemon is a problem, before and after the daemon notices',
  async (t) => {
    const { dataFolder, plane, simulator } = await startDaemonOnRack(t, { rack: { modems: 2 } });
    const env = {
      DATA_DIR: dataFolder,
      SYSFS_ROOT: join(simulator.dir, 'sys'),
      DEV_ROOT: join(simulator.dir, 'dev'),
    };
    const mute = simulator.modems[0]?.identity.imei ?? '';
    // A mute modem looks busy while it is to list its texts, which may take a minute.
    await until('its texts were listed', () => plane.slotOf(mute)?.swept_at, 60_000);
    t.match(await post(`${simulator.url}/modems/${mute}/faults`, { kind: 'silent' }), { status: 200 });
    const isMute = async (when: string): Promise<void> => {
      const ran = await doctor(env, '--json');
      const report = reportIn(ran);
      t.equal(ran.status, 2, `${when}: ${ran.stdout}`);
      t.match(findingOf(report, 'port', '1-1.1'), { verdict: 'problem', advice: /Unplug/ }, when);
      t.match(findingOf(report, 'port', '1-1.2'), { verdict: 'ok' }, 'the other one answers');
      t.ok(report.duration_ms < 20_000, `${report.duration_ms} ms`);
    };
    await isMute('the daemon does not know yet');
    await until('the daemon knows', () => plane.modemState(mute) === 'lost', 90_000);
    await isMute('the daemon recovers it');
    const failed = () => plane.framesOf('event').find(({ event }) => /^\w+ failed: /.test(event.detail));
    await until('a step failed', failed, 60_000);
    const report = reportIn(await doctor(env, '--json'));
    t.match(findingOf(report, 'port', '1-1.1').seen, /recovery step failed: \w+: the modem did not answer/);
    const text = await doctor(env);
    t.notMatch(text.stdout, /slot 1-1\.1: ok/);
  },
);

interface Bare {
  readonly folder: string;
  readonly env: Record<string, string>;
}

/** A rack and a data folder without a daemon. */
async function startBareRack(t: Test): Promise<Bare> {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const plane = await ScriptedControlPlane.start();
  const simulator = await startSimulator({ modems: 1, dir: join(folder, 'rack') });
  t.teardown(async () => {
    await simulator.stop();
    await plane.stop();
  });
  writeIdentity(dataDir, plane.url);
  const env = {
    DATA_DIR: dataDir,
    SYSFS_ROOT: join(simulator.dir, 'sys'),
    DEV_ROOT: join(simulator.dir, 'dev'),
  };
  return { folder, env };
}

t.test('without a daemon it opens the modems itself, and gives them back', async (t) => {
  const { env } = await startBareRack(t);
  for (let round = 0; round < 2; round += 1) {
    const ran = await doctor(env, '--json');
    const report = reportIn(ran);
    t.equal(ran.status, 1, 'no daemon: a warning');
    t.match(report, { verdict: 'warning', daemon: 'not_running', slots: ['1-1.1'] });
    t.match(findingOf(report, 'registration', '1-1.1'), { verdict: 'ok' });
  }
});

t.test('a configuration file that is wrong is a finding, and bad options are no report', async (t) => {
  const { env, folder } = await startBareRack(t);
  const file = join(folder, 'node.yaml');
  writeFileSync(file, 'slots:\n  - { name: top, usbpath: 1-1.1 }\n');
  const ran = await doctor({ ...env, NODE_CONFIG: file }, '--json');
  t.equal(ran.status, 2);
  t.match(findingOf(reportIn(ran), 'configuration'), {
    verdict: 'problem',
    seen: /node\.yaml:2:\d+: .*usb_path/,
  });
  const unknown = await doctor(env, '--jason');
  t.equal(unknown.status, 3);
  t.equal(unknown.stdout, '');
  t.match(unknown.stderr, /unknown option/);
  t.equal((await doctor({ ...env, MODEM_PORTS: ',' })).status, 3);
  const help = await doctor(env, '--help');
  t.equal(help.status, 0);
  t.match(help.stdout, /--loop-test/);
});

t.test('as a user without rights on the ports: which group is missing', async (t) => {
  if (process.getuid?.() !== 0) {
    t.pass('only root can become another user');
    return;
  }
  const { env, folder } = await startBareRack(t);
  for (const each of [folder, join(folder, 'rack')]) chmodSync(each, 0o755);
  // The simulator's own links lead through its process, where only its user may go.
  const devRoot = join(folder, 'dev');
  mkdirSync(devRoot);
  for (const name of readdirSync(String(env['DEV_ROOT'])).filter((each) => each.startsWith('tty'))) {
    symlinkSync(realpathSync(join(String(env['DEV_ROOT']), name)), join(devRoot, name));
  }
  const noServer = 65_534;
  for (const each of ['data', 'data/identity.json']) chownSync(join(folder, each), noServer, noServer);
  // Through env: the runner of these tests would have the process write into this folder, which has no write permission.
  const variables = Object.entries({ PATH, ...env, DEV_ROOT: devRoot }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const child = spawn(
    '/usr/bin/env',
    ['-i', ...variables, process.execPath, join(PROJECT_FOLDER, 'node-daemon/bin.cjs'), 'doctor', '--json'],
    { uid: noServer, gid: noServer, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  const [status] = (await once(child, 'close')) as [number | null];
  t.equal(status, 2);
  const report = reportIn({ status, stdout, stderr: '' });
  t.match(findingOf(report, 'port_rights', '1-1.1'), { verdict: 'problem', advice: /usermod -aG|udev rule/ });
  t.match(findingOf(report, 'port', '1-1.1'), { verdict: 'problem', seen: 'cannot be opened' });
});
