// The files that docs/service/install.md shows: the page has them to the letter, and systemd and a shell accept them.
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/started-stack.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const SERVICE = join(PROJECT_FOLDER, 'docs/service');
const read = (name: string): string => readFileSync(join(SERVICE, name), 'utf8');
const UNIT = 'simrack-control-plane.service';
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

t.test('the page shows each file', async (t) => {
  for (const name of ['control-plane.env', UNIT, 'control-plane.sh'])
    t.ok(read('install.md').includes(`\n${read(name)}\`\`\`\n`), name);
});

t.test(
  'systemd knows every line of the unit',
  { skip: hasSystemd ? false : 'systemd is not installed' },
  async (t) => {
    const path = join(temporaryFolder(t), UNIT);
    writeFileSync(
      path,
      read(UNIT)
        .replace('/usr/bin/node', process.execPath)
        .replace(/^(User|Group)=.*\n/gm, ''),
    );
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
    t.notMatch(stderr, UNIT);
  },
);

t.test('the wrapper of the commands gives them the options of the service', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'control-plane');
  writeFileSync(
    join(folder, 'control-plane.env'),
    read('control-plane.env').replace('127.0.0.1:5432', '127.0.0.1:1').replace('/var/lib/simrack', folder),
  );
  const wrapper = read('control-plane.sh')
    .replace('[ "$(id -un)" != simrack ]', 'false')
    .replace('/etc/simrack/', `${folder}/`)
    .replace('/usr/bin/node /opt/simrack/', `${process.execPath} ${PROJECT_FOLDER}/`);
  writeFileSync(path, wrapper);
  chmodSync(path, 0o755);
  const env = { PATH: String(process.env['PATH']) };
  const { status, stderr } = spawnSync(path, ['node', 'list'], { env, encoding: 'utf8' });
  t.same({ status, stderr }, { status: 1, stderr: 'error: the database is not available\n' });
});
