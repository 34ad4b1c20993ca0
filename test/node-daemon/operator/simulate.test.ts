// `node-daemon simulate`: modems in software and a daemon on them, for those who have none.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '../../fixtures/network/free-port.ts';
import { served } from '../../fixtures/network/served.ts';
import { writeIdentity } from '../../fixtures/nodes/enrolled-node.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { isAlive } from '../../fixtures/stacks/started-stack.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';
import { ScriptedControlPlane } from '../link/scripted-control-plane.ts';

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  t.test(`runs until ${signal}, and the simulator ends with it`, { timeout: 180_000 }, async (t) => {
    const dir = temporaryFolder(t);
    const config = join(dir, 'node.yaml');
    const port = await freePort();
    writeFileSync(config, `slots: [{ name: top, usb_path: 1-1.1 }]\nmetrics: { port: ${port} }\n`);
    const isEnrolled = signal === 'SIGKILL';
    const plane = await ScriptedControlPlane.start();
    t.teardown(() => plane.stop());
    if (isEnrolled) {
      mkdirSync(join(dir, 'node'), { mode: 0o700 });
      writeIdentity(join(dir, 'node'), plane.url);
    }
    const args = [join(PROJECT_FOLDER, 'node-daemon/bin.cjs'), 'simulate', '--modems', '2', '--dir', dir];
    const child = spawn(process.execPath, [...args, '--config', config, '--log-level', 'info'], {
      env: { PATH: String(process.env['PATH']) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    let output = '';
    let log = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      log += String(chunk);
    });
    await until('it says what to do', () => output.includes('npx --no-install node-daemon list'), 60_000);
    const [, dataDir = ''] = /list --data-dir (\S+)/.exec(output) ?? [];
    const slots = async (): Promise<string> =>
      (await runProgram('node-daemon', ['list', '--data-dir', dataDir], {})).stdout;
    await until(
      'both are in service',
      async () => (await slots()).match(/in service/g)?.length === 2,
      30_000,
    );
    t.match(await slots(), /^top +in service/m, 'it uses the configuration file');
    if (signal === 'SIGINT') await tryCommands(t, output, port);
    t.match(output, isEnrolled ? 'It is enrolled as n-1' : / node add rack-7" .* enroll <url> <code> /s);
    if (isEnrolled) await until('it says that it is linked', () => output.includes('\nlinked as n-1\n'));
    else
      t.match(
        log,
        new RegExp(`is not enrolled: run .*node-daemon enroll <url> <code> --data-dir ${dataDir}\\\\" while`),
      );
    const simulator = Number(/"pid":(\d+)[^\n]*"name":"hardware-sim"/.exec(log)?.[1]);
    t.ok(isAlive(simulator));
    const exit = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exit) as [number | null];
    if (signal === 'SIGINT') t.equal(code, 0);
    await until('the simulator has ended', () => !isAlive(simulator));
  });
}

/** The commands that it prints do what they say, as they are printed. */
async function tryCommands(t: Test, printed: string, port: number): Promise<void> {
  const lines = [...printed.matchAll(/^ {2}npx --no-install node-daemon (.*)$/gm)].map(([, line]) =>
    String(line),
  );
  const shell = (line: string) =>
    spawnSync('sh', ['-c', line], { encoding: 'utf8', cwd: PROJECT_FOLDER, timeout: 60_000 });
  const run = (command: string) => {
    const line = lines.find((each) => each.startsWith(`${command} `));
    // npx takes seconds.
    return shell(`node node-daemon/bin.cjs ${line}`);
  };
  t.notMatch(printed, /1-1\.1/, 'the lines name the slot, not its port');
  const { stdout: report } = run('doctor');
  t.match(report, /slot top: ok, .*registered/);
  t.match(report, / enroll <url> <code> --data-dir /);
  t.match(run('send'), { status: 0, stdout: /accepted by the network/ });
  t.match(run('at'), { status: 0, stdout: /\+CSQ: 21,99/ });
  t.match(run('ussd'), { status: 0 });
  const atPort = lines.find((line) => line.startsWith('at '))?.replace(' top ', ' 1-1.1 ');
  t.match(shell(`node node-daemon/bin.cjs ${atPort}`).stderr, 'USB port 1-1.1 is the slot "top"');
  const [curl = ''] = /^ {2}curl .*$/m.exec(printed) ?? [];
  t.match(shell(curl), { status: 0 });
  await until('the text arrives', () => run('sms').stdout.includes('Hello, rack'));
  // It is shown from the modem, too, before the daemon has it.
  await until('it is counted', async () => {
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
    return /simrack_node_sms_received_total\{.*\} 1/.test(await metrics.text());
  });
}

t.test('a number of modems that cannot be', async (t) => {
  const ran = await runProgram('node-daemon', ['simulate', '--modems', '65'], {});
  t.match(ran, { status: 1, stderr: /--modems: must be a whole number from 1 to 64/ });
});

t.test('a port of the status page that is in use is refused before anything is started', async (t) => {
  const dir = temporaryFolder(t);
  const { port } = new URL(await served(t, createServer()));
  const given = ['simulate', '--dir', join(dir, 'own'), '--metrics-port', port];
  t.match(await runProgram('node-daemon', given, {}), {
    status: 1,
    stdout: '',
    stderr: new RegExp(
      `--metrics-port: port ${port} is already in use\\. To run a rack beside another one, .* --dir `,
    ),
  });
  t.notOk(existsSync(join(dir, 'own')));
});
