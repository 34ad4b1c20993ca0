// `node-daemon simulate`: modems in software and a daemon on them, for those who have none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { runProgram } from '../../fixtures/run-program.ts';
import { isAlive, temporaryFolder } from '../../fixtures/started-stack.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  t.test(`runs until ${signal}, and the simulator ends with it`, async (t) => {
    const dir = temporaryFolder(t);
    const args = [join(PROJECT_FOLDER, 'node-daemon/bin.cjs'), 'simulate', '--modems', '2', '--dir', dir];
    const child = spawn(process.execPath, [...args, '--log-level', 'info'], {
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
      'both are registered',
      async () => (await slots()).match(/registered/g)?.length === 2,
      30_000,
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

t.test('a number of modems that cannot be', async (t) => {
  const ran = await runProgram('node-daemon', ['simulate', '--modems', '65'], {});
  t.match(ran, { status: 1, stderr: /--modems: must be a whole number from 1 to 64/ });
});
