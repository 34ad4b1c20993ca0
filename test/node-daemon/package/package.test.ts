// The contents of the package: reproducible, in order by Debian's own checks, with rules for exactly the modems that the daemon knows.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROFILES } from '#node-daemon/modem/profiles/find-profile.ts';
import { ARCHITECTURES } from '#node-daemon/package/debian-package.ts';
import { hostArchitecture, packageOf } from '../../fixtures/installed-daemon.ts';
import { temporaryFolder } from '../../fixtures/started-stack.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const PACKAGE = join(PROJECT_FOLDER, 'node-daemon/package');
const SIZE_MAX = 2 * 1024 * 1024;
/** ELF's e_machine. */
const MACHINES = { amd64: 62, arm64: 183 } as const;

const run = (program: string, ...words: string[]): string =>
  execFileSync(program, words, { encoding: 'utf8', stdio: 'pipe' });
const has = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program)));
const needs = (program: string) => (has(program) ? false : `${program} is not installed`);

t.test('made twice it is the same, octet by octet, and small', async (t) => {
  const [first, second] = [temporaryFolder(t), temporaryFolder(t)];
  const { file, bytes } = await packageOf('0.1.0', first);
  const again = await packageOf('0.1.0', second);
  t.ok(readFileSync(file).equals(readFileSync(again.file)));
  t.ok(bytes < SIZE_MAX, `${bytes} bytes`);
});

for (const arch of ARCHITECTURES) {
  t.test(`${arch}: the serial port’s binding is of that machine, and nothing else is native`, async (t) => {
    const folder = temporaryFolder(t);
    const { file } = await packageOf('1.2.3', folder, arch);
    t.match(run('dpkg-deb', '--field', file), new RegExp(`Version: 1.2.3\nArchitecture: ${arch}\n`));
    run('dpkg-deb', '--extract', file, join(folder, 'root'));
    const binding = readFileSync(join(folder, 'root/usr/lib/simrack-node-daemon/serial-port.node'));
    t.equal(binding.readUInt16LE(18), MACHINES[arch]);
    const files = run('dpkg-deb', '--contents', file).split('\n');
    t.equal(files.filter((line) => line.endsWith('.node')).length, 1);
    t.same(
      files.filter((line) => line !== '' && !line.includes(' root/root ')),
      [],
    );
  });
}

t.test('the program runs from its folder, wherever that is', async (t) => {
  const folder = temporaryFolder(t);
  const { file } = await packageOf('0.1.0', folder);
  run('dpkg-deb', '--extract', file, join(folder, 'root'));
  const main = join(folder, 'root/usr/lib/simrack-node-daemon/main.mjs');
  t.match(run(process.execPath, main, '--help'), /enroll <url> <code>/);
  t.ok(statSync(join(folder, 'root/usr/bin/node-daemon')).mode & 0o111);
});

t.test(
  'the installed program prints its version, and uses the folder of the package by default',
  async (t) => {
    const folder = temporaryFolder(t);
    const { file } = await packageOf('1.2.3', folder);
    run('dpkg-deb', '--extract', file, join(folder, 'root'));
    const main = join(folder, 'root/usr/lib/simrack-node-daemon/main.mjs');
    t.equal(run(process.execPath, main, '--version'), '1.2.3\n');
    const wrapper = readFileSync(join(folder, 'root/usr/bin/node-daemon'), 'utf8');
    // As it is, but for the place of the program and what it does.
    const script = wrapper.replace(/^exec .*$/m, 'echo "$DEFAULT_DATA_DIR"');
    t.equal(run('sh', '-c', script), '/var/lib/simrack-node\n');
    const unit = readFileSync(join(PACKAGE, 'simrack-node-daemon.service'), 'utf8');
    t.match(unit, /^ExecStart=\/usr\/bin\/node-daemon$/m);
    t.match(unit, /^StateDirectory=simrack-node$/m);
  },
);

t.test('lintian finds no error', { skip: needs('lintian') }, async (t) => {
  const { file } = await packageOf('0.1.0', temporaryFolder(t));
  t.equal(run('lintian', '--allow-root', '--fail-on', 'error', '--tag-display-limit', '0', file), '');
});

t.test('the unit is exposed to 3.0 at most', { skip: needs('systemd-analyze') }, async (t) => {
  const unit = join(PACKAGE, 'simrack-node-daemon.service');
  t.match(
    run('systemd-analyze', 'security', '--offline=true', '--threshold=30', '--no-pager', unit),
    /exposure level/,
  );
});

t.test('the manual page has no mistakes', { skip: needs('man') }, async (t) => {
  t.equal(run('sh', '-c', 'man --warnings -l "$0" 2>&1 >/dev/null', join(PACKAGE, 'node-daemon.8')), '');
});

t.test('the rules speak of the modems of the profiles, and of no others', async (t) => {
  const rules = readFileSync(join(PACKAGE, '60-simrack-modems.rules'), 'utf8');
  const inRules = [...rules.matchAll(/ATTRS\{idVendor\}=="(\w+)", ATTRS\{idProduct\}=="([\w|]+)"/g)].flatMap(
    ([, vendor, products = '']) => products.split('|').map((product) => `${vendor}:${product}`),
  );
  const known = PROFILES.flatMap(({ usb, usbStorage }) => [...usb, ...usbStorage]);
  t.same(inRules.sort(), known.map(({ vendor, product }) => `${vendor}:${product}`).sort());
});

t.test('it is run with the threads and the memory of `node-daemon`', async (t) => {
  const installed = readFileSync(join(PACKAGE, 'node-daemon.sh'), 'utf8');
  const fromSources = readFileSync(join(PROJECT_FOLDER, 'node-daemon/bin.cjs'), 'utf8');
  const memory = [/--max-old-space-size=\d+/, /--max-semi-space-size=\d+/];
  for (const setting of [...memory, /UV_THREADPOOL_SIZE\D+(\d+)/]) {
    const [installedOne, ours] = [installed, fromSources].map((text) => setting.exec(text)?.at(-1));
    t.ok(ours);
    t.equal(installedOne, ours);
  }
});

t.test('an unknown architecture and a bad date are refused', async (t) => {
  const program = ['--import', 'tsx', join(PACKAGE, 'main.ts'), '--out', temporaryFolder(t)];
  const fails = (words: string[], env: Record<string, string> = {}): string => {
    try {
      execFileSync(process.execPath, [...program, ...words], {
        env: { ...process.env, ...env },
        stdio: 'pipe',
      });
    } catch (error) {
      return String((error as { stderr: Buffer }).stderr);
    }
    return '';
  };
  t.match(fails(['--arch', 'riscv64']), /--arch: must be one of amd64, arm64/);
  t.match(
    fails(['--arch', hostArchitecture()], { SOURCE_DATE_EPOCH: 'today' }),
    /SOURCE_DATE_EPOCH: must be seconds/,
  );
});
