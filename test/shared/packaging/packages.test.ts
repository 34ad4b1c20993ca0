// The packages of both programs: reproducible, small, in order by Debian's own checks, with stack traces that show the sources.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, parse, relative } from 'node:path';
import t from 'tap';
import { skipWithout } from '../../fixtures/foreign-program.ts';
import { PACKAGES, unpacked } from '../../fixtures/packages/built-packages.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const VERSION = '1.2.3';
/** Nothing of the machine that builds, but for what starts programs. */
const PATH = { PATH: String(process.env['PATH']) };

/** The command that builds the package of a folder: compiled if this test is. */
const commandIn = (source: string): string => {
  const { dir, ext } = parse(import.meta.filename);
  return join(dir, '../../..', relative(PROJECT_FOLDER, source), `main${ext}`);
};

const run = (program: string, ...words: string[]): string =>
  execFileSync(program, words, { encoding: 'utf8', stdio: 'pipe' });

const built = await Promise.all(
  PACKAGES.map(async (each) => {
    const root = temporaryFolder(t);
    const { file, bytes } = await each.build(VERSION, root);
    return { ...each, root, file, bytes, folder: unpacked(file, each.name, join(root, 'host')) };
  }),
);

// In one run: its start takes longer than the checks of a package.
t.test('lintian finds no error in them', { skip: skipWithout('lintian', '--version') }, async (t) => {
  const words = ['--allow-root', '--fail-on', 'error', '--tag-display-limit', '0'];
  t.equal(run('lintian', ...words, ...built.map(({ file }) => file)), '');
});

for (const { name, program, source, build, help, bytesMax, ...made } of built) {
  const { root, file, bytes, folder } = made;
  /** Runs the program from its folder, which is not where it will be. */
  const started = (words: string[], env: Record<string, string> = {}) =>
    spawnSync(process.execPath, ['--require', './stack-traces.cjs', 'main.mjs', ...words], {
      cwd: folder,
      env: { ...PATH, ...env },
      encoding: 'utf8',
    });

  t.test(`${name}: made twice it is the same, octet by octet, and small`, async (t) => {
    const again = await build(VERSION, temporaryFolder(t));
    t.ok(readFileSync(file).equals(readFileSync(again.file)));
    t.ok(bytes < bytesMax, `${bytes} bytes`);
  });

  t.test(`${name}: root owns everything, and nothing of the machine that built it is in it`, async (t) => {
    const lines = run('dpkg-deb', '--contents', file).split('\n').filter(Boolean);
    t.same(
      lines.filter((line) => !line.includes(' root/root ')),
      [],
    );
    for (const path of [PROJECT_FOLDER, root])
      t.equal(spawnSync('grep', ['-rlF', path, folder], { encoding: 'utf8' }).stdout, '', path);
    t.match(run('dpkg-deb', '--field', file), `Version: ${VERSION}\n`);
  });

  t.test(`${name}: the program runs, says its version, and is executable where users find it`, async (t) => {
    t.match(started(['--help']).stdout, help);
    t.equal(started(['--version']).stdout, `${VERSION}\n`);
    t.ok(statSync(join(root, 'host/usr/bin', program)).mode & 0o111);
  });

  t.test(`${name}: a stack trace shows lines of the sources`, async (t) => {
    const env = {
      DATA_DIR: '/proc/none',
      DATABASE_URL: 'postgres://simrack@127.0.0.1:1/none',
      RPC_URL: 'http://127.0.0.1:1',
      PAY_TO: `0x${'1'.repeat(40)}`,
      RELAYER_KEY: `0x${'1'.repeat(64)}`,
      PORT: '0',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
    };
    const { stderr, status } = started([], env);
    t.equal(status, 1);
    const places = [
      ...stderr.matchAll(/\(\/\S*?\/((?:control-plane|node-daemon|shared)\/[\w/.-]+\.ts):(\d+):\d+\)/g),
    ]
      .map(([, path = '', line]) => ({ path: path.replace(/^.*?usr\/lib\/[^/]+\//, ''), line: Number(line) }))
      .map(({ path, line }) => ({ path: path.replace(/^simrack-[\w-]+\//, ''), line }));
    t.ok(places.length > 2, stderr);
    t.ok(places.some(({ path }) => path === 'shared/process/run.ts'));
    for (const { path, line } of places) {
      const lines = readFileSync(join(PROJECT_FOLDER, path), 'utf8').split('\n');
      t.match(lines[line - 1], /\S/, `${path}:${line}`);
    }
    t.notMatch(stderr, /main\.mjs:\d|part-\w+\.mjs:\d/);
  });

  t.test(
    `${name}: the unit is exposed to 3.0 at most, and has no limit on restarts`,
    { skip: skipWithout('systemd-analyze', '--version') },
    async (t) => {
      const unit = join(source, `${name}.service`);
      const words = ['security', '--offline=true', '--threshold=30', '--no-pager', unit];
      t.match(run('systemd-analyze', ...words), /exposure level/);
      t.match(readFileSync(unit, 'utf8'), /^StartLimitIntervalSec=0$/m);
    },
  );

  t.test(`${name}: the manual page has no mistakes`, { skip: skipWithout('man', '--version') }, async (t) => {
    t.equal(run('sh', '-c', 'man --warnings -l "$0" 2>&1 >/dev/null', join(source, `${program}.8`)), '');
    t.ok(existsSync(join(root, `host/usr/share/man/man8/${program}.8.gz`)));
  });

  t.test(`${name}: a bad date and a bad version are refused`, async (t) => {
    const fails = (words: string[], env: Record<string, string> = {}): string => {
      const main = [...process.execArgv, commandIn(source), '--out', temporaryFolder(t)];
      const { status, stderr } = spawnSync(process.execPath, [...main, ...words], {
        cwd: PROJECT_FOLDER,
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
      t.equal(status, 1);
      return stderr;
    };
    t.match(fails([], { SOURCE_DATE_EPOCH: 'today' }), /SOURCE_DATE_EPOCH: must be seconds/);
    t.match(fails(['--package-version', '../1']), /--package-version: must be the version/);
    t.match(fails(['--arch', 'riscv64']), /--arch: must be one of/);
  });
}
