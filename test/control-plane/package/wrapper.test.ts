// The command that operators type: the options of the service, to the letter, and help without them.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { OPTIONS } from '#control-plane/config/config.ts';
import { IMAGE } from '#control-plane/package/debian-package.ts';
import { commandOf } from '../../dev-stack/program-command.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const PACKAGE = join(PROJECT_FOLDER, 'control-plane/package');
const read = (name: string): string => readFileSync(join(PACKAGE, name), 'utf8');

/** Runs the wrapper as the user of the service; the program is `print`, a program of Node. */
function run(t: Test, config: string, words: string[], print: string) {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'control-plane.env'), config);
  writeFileSync(join(folder, 'print.mjs'), print);
  const wrapper = read('control-plane.sh')
    .replace('[ "$(id -un)" != simrack-service ]', 'false')
    .replace('/etc/simrack/', `${folder}/`)
    .replace(/^exec .*$/m, `exec "${process.execPath}" "${folder}/print.mjs" "$@"`);
  writeFileSync(join(folder, 'wrapper'), wrapper, { mode: 0o755 });
  return spawnSync(join(folder, 'wrapper'), words, { env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
}

const ENVIRONMENT = 'process.stdout.write(JSON.stringify(process.env))';
const WORDS = 'process.stdout.write(JSON.stringify(process.argv.slice(2)))';

t.test('unit, image and npm give Node the flags of bin.mjs', async (t) => {
  const [flag = ''] = commandOf('control-plane/bin.mjs');
  t.match(flag, /^--max-semi-space-size=\d+$/);
  const npm = readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8');
  t.ok(IMAGE.entrypoint.includes(flag));
  t.ok(read('simrack-control-plane.service').includes(`/usr/bin/node ${flag} `));
  t.ok(npm.includes(`exec node ${flag} control-plane/bin.mjs`));
});

t.test('values arrive as they are written, whatever they mean to a shell', async (t) => {
  const values = {
    DATABASE_URL: 'postgres://simrack:a$b`c;d@127.0.0.1:5432/simrack?a=1&b=2',
    ALERT_WEBHOOK_URL: 'https://example.com/?x=$(id)&y=*',
    SMTP_URL: "smtp://u:it's@mail:25",
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  const config = `# A comment with NAME=value\n\n#OFF=1\n${lines.join('\n')}`;
  const seen = JSON.parse(run(t, config, ['node', 'list'], ENVIRONMENT).stdout) as Record<string, string>;
  for (const [name, value] of Object.entries(values)) t.equal(seen[name], value);
  t.equal(seen['OFF'], undefined);
});

t.test(
  'arguments arrive as they are; without any it prints help, and never starts a second service',
  async (t) => {
    const wordsOf = (...words: string[]): unknown => JSON.parse(run(t, '', words, WORDS).stdout);
    t.same(wordsOf('refund', '--note', 'it is "late" $HOME'), ['refund', '--note', 'it is "late" $HOME']);
    t.same(wordsOf(), ['--help']);
  },
);

t.test('help and version need neither the configuration nor the user', async (t) => {
  const folder = temporaryFolder(t);
  const wrapper = read('control-plane.sh')
    .replace('/etc/simrack/', `${folder}/missing/`)
    .replace(/^exec .*$/m, 'echo done');
  for (const word of ['--help', '--version']) {
    const { stdout, status } = spawnSync('sh', ['-c', wrapper, 'wrapper', word], { encoding: 'utf8' });
    t.same({ stdout, status }, { stdout: 'done\n', status: 0 });
  }
});

t.test('each line of the configuration is an option of the service', async (t) => {
  const known = Object.values(OPTIONS).map(({ env }) => env);
  const names = [...read('control-plane.env').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
  t.ok(names.length > 8);
  t.same(
    names.filter((name) => !known.includes(String(name) as never)),
    [],
  );
});
