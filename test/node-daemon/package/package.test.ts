// The contents of the daemon's package: the serial port's binding of each machine, and rules for exactly the modems that the daemon knows.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ARCHITECTURES } from '#node-daemon/package/debian-package.ts';
import { PROFILES } from '#node-daemon/profiles/find-profile.ts';
import { daemonPackage, unpacked } from '../../fixtures/packages/built-packages.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const PACKAGE = join(PROJECT_FOLDER, 'node-daemon/package');
/** ELF's e_machine. */
const MACHINES = { amd64: 62, arm64: 183 } as const;

const run = (program: string, ...words: string[]): string =>
  execFileSync(program, words, { encoding: 'utf8', stdio: 'pipe' });

for (const arch of ARCHITECTURES) {
  t.test(`${arch}: the serial port’s binding is of that machine, and nothing else is native`, async (t) => {
    const folder = temporaryFolder(t);
    const { file } = await daemonPackage('1.2.3', folder, arch);
    t.match(run('dpkg-deb', '--field', file), new RegExp(`Version: 1.2.3\nArchitecture: ${arch}\n`));
    const program = unpacked(file, 'simrack-node-daemon', join(folder, 'root'));
    t.equal(readFileSync(join(program, 'serial-port.node')).readUInt16LE(18), MACHINES[arch]);
    const files = run('dpkg-deb', '--contents', file).split('\n');
    t.equal(files.filter((line) => line.endsWith('.node')).length, 1);
  });
}

t.test('the installed program uses the folder of the package by default', async (t) => {
  const wrapper = readFileSync(join(PACKAGE, 'node-daemon.sh'), 'utf8');
  // As it is, but for the place of the program and what it does.
  const script = wrapper.replace(/^exec (?:.*\\\n)*.*$/m, 'echo "$DEFAULT_DATA_DIR"');
  t.equal(run('sh', '-c', script), '/var/lib/simrack-node\n');
  const unit = readFileSync(join(PACKAGE, 'simrack-node-daemon.service'), 'utf8');
  t.match(unit, /^ExecStart=\/usr\/bin\/node-daemon$/m);
  t.match(unit, /^StateDirectory=simrack-node$/m);
});

t.test('the rules speak of the modems of the profiles, and of no others', async (t) => {
  const rules = readFileSync(join(PACKAGE, '60-simrack-modems.rules'), 'utf8');
  const inRules = [...rules.matchAll(/ATTRS\{idVendor\}=="(\w+)", ATTRS\{idProduct\}=="([\w|]+)"/g)].flatMap(
    ([, vendor, products = '']) => products.split('|').map((product) => `${vendor}:${product}`),
  );
  const known = PROFILES.flatMap(({ usb, usbStorage }) => [...usb, ...usbStorage]);
  t.same(inRules.sort(), known.map(({ vendor, product }) => `${vendor}:${product}`).sort());
});

t.test('the program runs with the threads and the memory of `node-daemon`', async (t) => {
  const installed = readFileSync(join(PACKAGE, 'node-daemon.sh'), 'utf8');
  const fromSources = readFileSync(join(PROJECT_FOLDER, 'node-daemon/bin.cjs'), 'utf8');
  const memory = [/--max-old-space-size=\d+/, /--max-semi-space-size=\d+/];
  for (const setting of [...memory, /UV_THREADPOOL_SIZE\D+(\d+)/]) {
    const [installedOne, ours] = [installed, fromSources].map((text) => setting.exec(text)?.at(-1));
    t.ok(ours);
    t.equal(installedOne, ours);
  }
});
