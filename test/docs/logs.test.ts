// The files of docs/service/logs.md, with the real programs: rsyslog takes its configuration and writes lines, logrotate rotates them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { skipWithout } from '../fixtures/foreign-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { readPages } from './pages.ts';

const read = (name: string): string => readFileSync(join(PROJECT_FOLDER, 'docs/service', name), 'utf8');
const RSYSLOG = 'rsyslogd';
const skip = skipWithout(RSYSLOG, '-v');
const isRoot = process.getuid?.() === 0;

const forwarding = (text: string): string => text.replaceAll(/^#(?=if| {2}action| {4}|}| {2})/gm, '');

t.test(
  'journalctl takes each command of the pages',
  { skip: skipWithout('journalctl', '--version') },
  async (t) => {
    const commands = readPages()
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\bjournalctl((?: -\S+| [\w./-]*\w)+)/g)].map(([, args = '']) => ({ path, args })),
      )
      .map(({ path, args }) => ({ path, args: args.trim().split(' ') }));
    t.ok(commands.length > 4);
    const complaint = (args: readonly string[]): string => {
      const shown = args.filter((arg) => arg !== '-f' && arg !== '--follow');
      const { stderr } = spawnSync('journalctl', [...shown, '--no-pager', '-n', '0'], { encoding: 'utf8' });
      return /unrecognized|invalid|unknown|Failed to parse/i.exec(stderr)?.input ?? '';
    };
    t.not(complaint(['-p', 'loud']), '');
    for (const { path, args } of commands)
      t.equal(complaint(args), '', `${path}: journalctl ${args.join(' ')}`);
  },
);

t.test('rsyslog takes the file, with and without the other host', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  for (const [name, text] of Object.entries({
    files: read('rsyslog.conf'),
    both: forwarding(read('rsyslog.conf')),
  })) {
    const file = join(folder, `${name}.conf`);
    writeFileSync(file, text);
    const { status, stderr } = spawnSync(RSYSLOG, ['-N1', '-f', file], { encoding: 'utf8' });
    t.equal(status, 0, `${name}: ${stderr}`);
  }
  writeFileSync(join(folder, 'wrong.conf'), read('rsyslog.conf').replace('type="omfile"', 'type="omfiles"'));
  t.not(spawnSync(RSYSLOG, ['-N1', '-f', join(folder, 'wrong.conf')]).status, 0, 'the check finds mistakes');
});

t.test('each unit has its file, a line is one line, and other units have none', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const log = join(folder, 'log');
  mkdirSync(log);
  // From JSON lines in place of a journal; the rest is the file of the documentation.
  const input = join(folder, 'journal.json');
  writeFileSync(input, '');
  const rules = read('rsyslog.conf')
    .replace(/^module\(load="imjournal".*$/m, '')
    .replaceAll('/var/log/simrack', log);
  const config = [
    `global(workDirectory="${folder}")`,
    'module(load="imfile" mode="polling" pollingInterval="1")',
    'module(load="mmjsonparse")',
    `input(type="imfile" file="${input}" tag="test:" freshStartTail="off")`,
    'action(type="mmjsonparse" cookie="")',
    rules,
  ].join('\n');
  const file = join(folder, 'rsyslog.conf');
  writeFileSync(file, config);
  const child = spawn(RSYSLOG, ['-n', '-f', file, '-i', join(folder, 'pid')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  const units = ['simrack-control-plane', 'simrack-node-daemon', 'ssh'];
  const lines = units.map((unit) =>
    JSON.stringify({ _SYSTEMD_UNIT: `${unit}.service`, msg: `from ${unit}` }),
  );
  writeFileSync(input, `${lines.join('\n')}\n`);
  const textOf = (name: string): string =>
    existsSync(join(log, name)) ? readFileSync(join(log, name), 'utf8') : '';
  await until('both files', () => textOf('control-plane.log') !== '' && textOf('node-daemon.log') !== '');
  t.match(textOf('control-plane.log'), /^\d{4}-\d\d-\d\dT\S+ \S+ \w+ .*from simrack-control-plane.*\n$/);
  t.match(textOf('node-daemon.log'), /from simrack-node-daemon.*\n$/);
  t.same(readdirSync(log).sort(), ['control-plane.log', 'node-daemon.log']);
});

t.test(
  'logrotate rotates a large file, and makes a new one that only root and adm read',
  { skip: skipWithout('logrotate', '--version') || (isRoot ? false : 'not root: files for root') },
  async (t) => {
    const folder = temporaryFolder(t);
    const log = join(folder, 'log');
    mkdirSync(log, { mode: 0o750 });
    writeFileSync(join(log, 'control-plane.log'), Buffer.alloc(101 * 1024 * 1024, 'a'));
    const config = join(folder, 'logrotate.conf');
    const rotated = join(folder, 'rotated');
    writeFileSync(
      config,
      read('logrotate.conf')
        .replace('/var/log/simrack', log)
        .replace('/usr/lib/rsyslog/rsyslog-rotate', `touch ${rotated}`),
      { mode: 0o644 },
    );
    const { status, stderr } = spawnSync('logrotate', ['--state', join(folder, 'state'), config], {
      encoding: 'utf8',
    });
    t.same({ status, stderr }, { status: 0, stderr: '' });
    t.same(readdirSync(log).sort(), ['control-plane.log', 'control-plane.log.1']);
    t.equal(readFileSync(join(log, 'control-plane.log'), 'utf8'), '');
    t.ok(existsSync(rotated), 'rsyslog is signaled');
  },
);
