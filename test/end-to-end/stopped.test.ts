// Every way to end `npm start`, and what is left of it: nothing, or what the next start ends.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { DevStackFile } from '../dev-stack/dev-stack.ts';
import { served } from '../fixtures/network/served.ts';
import { instanceCount } from '../fixtures/service/several-instances.ts';
import { isAlive, startStack } from '../fixtures/stacks/started-stack.ts';
import { someOf } from '../fixtures/sweep.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

async function npmStart(t: Test) {
  const dataDir = temporaryFolder(t);
  const npm = spawn('npm', ['start'], {
    cwd: PROJECT_FOLDER,
    env: {
      ...process.env,
      PORT: '0',
      MODEMS: '1',
      DATA_DIR: dataDir,
      CONTROL_PLANES: String(instanceCount()),
    },
    stdio: 'ignore',
    detached: true,
  });
  const group = Number(npm.pid);
  const path = join(dataDir, 'dev-stack.json');
  await until('npm start is up', () => existsSync(path), 60_000);
  const { pid, pids } = JSON.parse(readFileSync(path, 'utf8')) as DevStackFile;
  return { npm, group, processes: [group, pid, ...Object.values(pids)] };
}

t.test('a port that is taken is refused before anything starts, with advice', async (t) => {
  const { port } = new URL(await served(t, createServer()));
  const { status, stderr } = spawnSync(process.execPath, ['dist/dev-stack/main.js'], {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, PORT: port, DATA_DIR: temporaryFolder(t) },
    encoding: 'utf8',
  });
  t.equal(status, 1);
  t.match(stderr, `PORT: port ${port} is already in use. Choose another one, for example PORT=`);
});

t.test(
  'a signal to npm alone, to its whole group as Ctrl-C sends it, or kill -9 of npm: nothing is left',
  async (t) => {
    const ways: ReadonlyArray<readonly [name: string, end: (group: number) => void]> = [
      ['SIGTERM to npm', (group) => process.kill(group, 'SIGTERM')],
      ['SIGINT to the group', (group) => process.kill(-group, 'SIGINT')],
      ['the terminal closes', (group) => process.kill(-group, 'SIGHUP')],
      ['kill -9 of npm', (group) => process.kill(group, 'SIGKILL')],
    ];
    for (const [name, end] of someOf(t, ways, 2)) {
      const { group, processes } = await npmStart(t);
      t.equal(processes.filter(isAlive).length, instanceCount() === 1 ? 6 : 10);
      end(group);
      await until(`${name}: all have ended`, () => !processes.some(isAlive), 20_000);
    }
  },
);

t.test('after kill -9 of the stack the next start ends what was left, and has all data', async (t) => {
  const dataDir = temporaryFolder(t);
  const env = { MODEMS: '1', ADMIT_NEW_SIMS: 'false' };
  const first = await startStack(t, { dataDir, env });
  const { pid, pids } = first.file();
  const beside = spawnSync(process.execPath, ['dist/dev-stack/main.js'], {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, ...env, PORT: '0', DATA_DIR: dataDir },
    encoding: 'utf8',
  });
  t.match(beside, { status: 1, stderr: `${dataDir} is in use by another npm start (pid ${pid})` });
  process.kill(pid, 'SIGKILL');
  await until('the stack is dead', () => !isAlive(pid));
  const second = await startStack(t, { dataDir, env, replaces: pid });
  t.same(Object.values(pids).filter(isAlive), []);
  t.not(second.file().pid, pid);
  const settings = readFileSync(join(dataDir, 'control-plane.env'), 'utf8');
  t.match(settings, "ADMIT_NEW_SIMS='false'\n", 'as the developer wants it');
});
