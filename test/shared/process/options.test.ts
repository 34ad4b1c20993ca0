// The options of each program, from outside: --help lists them, a bad value ends the start with one line.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { someOf } from '../../fixtures/sweep.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const PROGRAMS = [
  'control-plane/bin.mjs',
  'node-daemon/bin.cjs',
  'hardware-sim/bin.mjs',
  'dist/dev-stack/main.js',
] as const;

function run(program: string, args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: PROJECT_FOLDER,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', ...env },
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

const CONTROL_PLANE = {
  RPC_URL: 'http://127.0.0.1:1',
  PAY_TO: `0x${'1'.repeat(40)}`,
  RELAYER_KEY: `0x${'1'.repeat(64)}`,
};
/** A key without its 0x. */
const SECRET = '7'.repeat(64);
const NODE_DAEMON = { MODEM_PORTS: '/nonexistent' };

t.test('--version prints that of the package and ends with 0', async (t) => {
  const { version } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'));
  for (const program of PROGRAMS)
    t.same(run(program, ['--version']), { status: 0, stdout: `${version}\n`, stderr: '' }, program);
});

t.test('--help lists every option with its variable and ends with 0', async (t) => {
  for (const program of PROGRAMS) {
    const { status, stdout } = run(program, ['--help']);
    t.equal(status, 0, program);
    t.match(stdout, /--[a-z-]+ <value> .*\([A-Z_]+/s, program);
  }
});

t.test('a bad or missing value ends the start with 1 and one line that names it', async (t) => {
  const cases: Array<[program: string, args: string[], env: Record<string, string>, line: RegExp]> = [
    ['control-plane/bin.mjs', [], {}, /RPC_URL/],
    ['control-plane/bin.mjs', [], { ...CONTROL_PLANE, PORT: 'eighty' }, /PORT.*65535/],
    ['control-plane/bin.mjs', ['--port', '70000'], CONTROL_PLANE, /--port.*65535/],
    ['control-plane/bin.mjs', [], { ...CONTROL_PLANE, CHAIN_ID: '1' }, /CHAIN_ID.*8453 or 84532/],
    ['control-plane/bin.mjs', [], { ...CONTROL_PLANE, PAY_TO: '0x12' }, /PAY_TO/],
    ['control-plane/bin.mjs', [], { ...CONTROL_PLANE, RELAYER_KEY: '' }, /RELAYER_KEY/],
    ['control-plane/bin.mjs', [], { ...CONTROL_PLANE, RELAYER_KEY_FILE: '/nonexistent' }, /RELAYER_KEY_FILE/],
    ['control-plane/bin.mjs', [], { ...CONTROL_PLANE, DATABASE_URL: 'mysql://x' }, /DATABASE_URL/],
    ['control-plane/bin.mjs', ['--nope'], CONTROL_PLANE, /--nope/],
    ['control-plane/bin.mjs', ['--relayer-key', SECRET], {}, /--relayer-key: must be/],
    [
      'control-plane/bin.mjs',
      ['--relayer-key-file', SECRET],
      {},
      /--relayer-key-file: the file does not exist/,
    ],
    [
      'control-plane/bin.mjs',
      [],
      { ...CONTROL_PLANE, RELAYER_KEY: `0x${'f'.repeat(64)}` },
      /RELAYER_KEY: must be a valid private key/,
    ],
    ['control-plane/bin.mjs', ['--database-url', `mysql://root:${SECRET}@db`], {}, /--database-url: must be/],
    ['control-plane/bin.mjs', [], { ...CONTROL_PLANE, DESTINATIONS: 'US,UK' }, /DESTINATIONS: "UK" .*GB/],
    ['control-plane/bin.mjs', [], { ...CONTROL_PLANE, DESTINATIONS: '+1' }, /DESTINATIONS: "\+1" .*US,CA/],
    [
      'control-plane/bin.mjs',
      [],
      { ...CONTROL_PLANE, ALLOWED_DESTINATIONS: '1' },
      /ALLOWED_DESTINATIONS: "1"/,
    ],
    ['node-daemon/bin.cjs', [], { NODE_CONFIG: '/nonexistent' }, /\/nonexistent/],
    ['node-daemon/bin.cjs', [], { ...NODE_DAEMON, MODEM_PORTS: 'a=/dev/x,a=/dev/y' }, /MODEM_PORTS/],
    ['node-daemon/bin.cjs', ['enroll'], {}, /url/],
    ['node-daemon/bin.cjs', ['enroll', 'ftp://x', 'A'], {}, /ftp/],
    ['node-daemon/bin.cjs', ['enroll', 'http://127.0.0.1:1', 'ABC'], {}, /code.*20/],
    ['node-daemon/bin.cjs', ['enroll', 'http://127.0.0.1:1', 'A', '--data-dir', '/proc/nope'], {}, /code/],
    ['control-plane/bin.mjs', ['node', 'add'], {}, /name/],
    [
      'control-plane/bin.mjs',
      ['slot', 'list', '--state', 'on'],
      {},
      /must be one of .*registered \("in service"\)/,
    ],
    ['control-plane/bin.mjs', ['node', 'add', 'No Spaces'], { DATA_DIR: '/proc/nope' }, /\/proc\/nope/],
    ['hardware-sim/bin.mjs', ['--modems', '0'], {}, /--modems/],
    ['hardware-sim/bin.mjs', [], { MODEMS: 'many' }, /MODEMS.*256/],
    ['hardware-sim/bin.mjs', [], { RACK_DIR: '/proc/nope' }, /\/proc\/nope/],
    ['node-daemon/bin.cjs', [], { ...NODE_DAEMON, DATA_DIR: '/proc/nope' }, /\/proc\/nope/],
    ['dist/dev-stack/main.js', [], { DATA_DIR: '/proc/nope' }, /\/proc\/nope/],
    ['dist/dev-stack/main.js', [], { MODEMS: '-1' }, /MODEMS/],
    ['dist/dev-stack/main.js', [], { CHAIN_ID: 'base' }, /CHAIN_ID/],
  ];
  for (const [program, args, env, line] of someOf(t, cases, 14)) {
    const { status, stderr } = run(program, args, env);
    const what = `${program} ${args.join(' ')} ${JSON.stringify(env)}`;
    t.equal(status, 1, what);
    t.equal(stderr.trim().split('\n').length, 1, `one line: ${stderr}`);
    t.match(stderr, line, what);
    t.notMatch(stderr, /\bat .*\.ts:\d+/, 'no stack');
    t.notMatch(stderr, SECRET, 'nothing secret');
    t.notMatch(stderr, 'f'.repeat(64));
  }
});

t.test('--help indents the lines of its commands, so that each command is seen', async (t) => {
  for (const program of ['control-plane/bin.mjs', 'node-daemon/bin.cjs']) {
    const [about = '', commands = ''] = run(program, ['--help']).stdout.split(
      'Commands, each with its own --help:\n',
    );
    t.match(about, /Without a command, the program runs until you stop it\.\n/);
    const lines = commands.slice(0, commands.indexOf('\n\n')).split('\n');
    t.ok(lines.some((line) => line.startsWith('      ')));
    for (const line of lines) t.match(line, /^ {2}(\w| {4}\S)/, line);
    t.same(
      lines.filter((line) => line.length > 80),
      [],
    );
  }
});

t.test('a mistyped command or option gets a suggestion', async (t) => {
  const cases: Array<[program: string, args: string[], line: RegExp]> = [
    ['node-daemon/bin.cjs', ['lst'], /unknown command 'lst'\s+\(Did you mean list\?\)/],
    ['node-daemon/bin.cjs', ['frob'], /unknown command 'frob'\n\(see --help\)\n$/],
    ['control-plane/bin.mjs', ['slot', 'frob'], /unknown command 'frob'\n\(see --help\)\n$/],
    ['control-plane/bin.mjs', ['node', 'frob', 'x'], /unknown command 'frob'\n\(see --help\)\n$/],
    ['node-daemon/bin.cjs', ['lst', '--help'], /\(Did you mean list\?\)/],
    ['control-plane/bin.mjs', ['slot', 'lst', '--help'], /\(Did you mean list\?\)/],
    ['hardware-sim/bin.mjs', ['lst', '--help'], /too many arguments/],
    ['node-daemon/bin.cjs', ['dcotor'], /\(Did you mean doctor\?\)/],
    ['control-plane/bin.mjs', ['nod', 'list'], /\(Did you mean node\?\)/],
    ['node-daemon/bin.cjs', ['list', '--jsn'], /unknown option '--jsn'\s+\(Did you mean --json\?\)/],
    ['node-daemon/bin.cjs', ['--data-dri', '/x'], /\(Did you mean --data-dir\?\)/],
  ];
  for (const [program, args, line] of cases) {
    const { status, stdout, stderr } = run(program, args, NODE_DAEMON);
    t.equal(status, 1, args.join(' '));
    t.equal(stdout, '', args.join(' '));
    t.match(stderr, line, args.join(' '));
  }
});
