// Our programs by name: npx, where it does not find ours, would fetch and run a stranger's package of the same name.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ownCommand } from '#shared/process/own-command.ts';
import { PROJECT_FOLDER } from './sources.ts';

const { bin } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8')) as { bin: object };
const PROGRAMS = Object.keys(bin);

/** Every way to have npm or its like run a program of that name, but for the one that never fetches. */
const FETCHING = new RegExp(
  `\\b(?:npx|npm (?:exec|x|i|install|create|init)|pnpm (?:dlx|exec)|yarn dlx|bunx)(?: +-[\\w=-]+)* +(?:--package[ =])?(?:${PROGRAMS.join('|')})(?![\\w/-])`,
  'g',
);
const SAFE = new RegExp(`^npx --no-install (?:${PROGRAMS.join('|')})$`);

const fetchingIn = (text: string): string[] =>
  [...text.matchAll(FETCHING)].map(String).filter((each) => !SAFE.test(each));

t.test('commands that fetch from a registry are recognised', async (t) => {
  const bad = [
    'npx simrack',
    'npx -y node-daemon enroll',
    'npm exec control-plane',
    'npm i simrack',
    'npx --yes hardware-sim',
  ];
  for (const text of bad) t.same(fetchingIn(`run "${text}"`).length, 1, text);
  for (const text of ['npx --no-install simrack send', 'npx tap', 'npm run node-daemon', 'npm i ./simrack'])
    t.same(fetchingIn(text), [], text);
});

t.test('no file in the repository fetches our commands from a registry', async (t) => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: PROJECT_FOLDER,
  })
    .toString()
    .split('\0')
    .filter(
      (path) => path !== '' && path !== 'package-lock.json' && path !== 'test/tidy/own-commands.test.ts',
    );
  t.ok(files.length > 500);
  for (const path of files) {
    const found = fetchingIn(readFileSync(join(PROJECT_FOLDER, path), 'utf8'));
    if (found.length > 0) t.fail(`${path}: ${found.join(', ')}`);
  }
});

t.test('hints have the form that the reader has', async (t) => {
  t.equal(ownCommand('node-daemon', { isPackaged: true }), 'node-daemon');
  for (const folder of [PROJECT_FOLDER, join(PROJECT_FOLDER, 'test')])
    t.equal(ownCommand('node-daemon', { folder }), 'npx --no-install node-daemon');
  for (const program of ['control-plane', 'node-daemon', 'simrack'] as const) {
    const [node, path = '', ...more] = ownCommand(program, { folder: tmpdir() }).split(' ');
    t.same([node, more], ['node', []]);
    t.match(execFileSync(process.execPath, [path, '--help']).toString(), `Usage: ${program}`);
  }
});
