// Builds a Debian package of the daemon with dpkg-deb. Does not need root.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle } from './bundle.ts';
import { copyright } from './copyright.ts';

/** Debian's names of architectures, with the file of the serial port's native binding for each. */
const PREBUILDS = {
  amd64: 'linux-x64/@serialport+bindings-cpp.glibc.node',
  arm64: 'linux-arm64/@serialport+bindings-cpp.armv8.glibc.node',
} as const;
export type Architecture = keyof typeof PREBUILDS;
export const ARCHITECTURES = ['amd64', 'arm64'] as const satisfies readonly Architecture[];

const NAME = 'simrack-node-daemon';
const MAINTAINER = 'Simrack <operators@simrack.invalid>';
const PROGRAM_FOLDER = `usr/lib/${NAME}`;
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

interface PackageOptions {
  readonly arch: Architecture;
  readonly version: string;
  /** Folder for the package. Created if missing. */
  readonly out: string;
  /** Time of all files in the package, in seconds since 1970. */
  readonly builtAt: number;
}

/** Builds the package for one architecture. Throws if dpkg-deb is missing or fails. */
export async function buildPackage({
  arch,
  version,
  out,
  builtAt,
}: PackageOptions): Promise<{ file: string; bytes: number }> {
  const root = mkdtempSync(join(tmpdir(), `${NAME}-`));
  try {
    chmodSync(root, 0o755);
    mkdirSync(join(root, PROGRAM_FOLDER), { recursive: true });
    const packages = await bundle(join(root, PROGRAM_FOLDER), { prebuild: PREBUILDS[arch], version });
    for (const file of packedFiles()) writePacked(root, file);
    const documents = `usr/share/doc/${NAME}`;
    writePacked(root, { path: `${documents}/copyright`, text: copyright(packages) });
    writePacked(root, {
      path: `${documents}/changelog.gz`,
      text: changelog(version, builtAt),
      isCompressed: true,
    });
    const sums = filesBelow(root).map((path) => `${md5(join(root, path))}  ${path}\n`);
    const kibibytes = filesBelow(root).reduce(
      (sum, path) => sum + Math.ceil(statSync(join(root, path)).size / 1024),
      0,
    );
    writePacked(root, { path: 'DEBIAN/control', text: control({ arch, version, kibibytes }) });
    writePacked(root, { path: 'DEBIAN/md5sums', text: sums.join('') });
    writePacked(root, { path: 'DEBIAN/conffiles', text: '/etc/simrack/node-daemon.yaml\n' });
    for (const name of SCRIPTS) {
      const text = readFileSync(join(import.meta.dirname, 'debian', name), 'utf8');
      writePacked(root, { path: `DEBIAN/${name}`, text, mode: 0o755 });
    }
    settle(root, builtAt);
    mkdirSync(out, { recursive: true });
    const file = join(resolve(out), `${NAME}_${version}_${arch}.deb`);
    pack(root, file, builtAt);
    return { file, bytes: statSync(file).size };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function pack(root: string, file: string, builtAt: number): void {
  const words = ['--root-owner-group', '-Zxz', '--uniform-compression', '--build', root, file];
  try {
    execFileSync('dpkg-deb', words, {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', SOURCE_DATE_EPOCH: String(builtAt) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error('dpkg-deb was not found: install the package dpkg', { cause: error });
  }
}

/** Sets all modes and times to the same values, so that each build gives the same package. */
function settle(path: string, builtAt: number): void {
  const status = statSync(path);
  if (status.isDirectory()) {
    for (const name of readdirSync(path)) settle(join(path, name), builtAt);
    chmodSync(path, 0o755);
  } else chmodSync(path, (status.mode & 0o100) === 0 ? 0o644 : 0o755);
  utimesSync(path, builtAt, builtAt);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => dirname(path) !== 'DEBIAN')
    .sort();
}

const md5 = (path: string): string => createHash('md5').update(readFileSync(path)).digest('hex');

/** Returns the text of `DEBIAN/control` (Debian policy, chapter 5). */
function control({ arch, version, kibibytes }: { arch: string; version: string; kibibytes: number }): string {
  const fields = {
    Package: NAME,
    Version: version,
    Architecture: arch,
    Maintainer: MAINTAINER,
    'Installed-Size': kibibytes,
    // Debian's nodejs or NodeSource's. The daemon sends notifications with systemd-notify.
    Depends: 'nodejs (>= 20.19), systemd, init-system-helpers (>= 1.54), libc6 (>= 2.28), libstdc++6 (>= 9)',
    // For calls of modems with a sound card, and for sticks in mass-storage mode.
    Recommends: 'alsa-utils, usb-modeswitch',
    Suggests: 'uhubctl',
    Section: 'comm',
    Priority: 'optional',
    Description: [
      'runs the modems of one host for Simrack',
      ' Reads and sends SMS and carries calls over the SIM cards in USB modems. Keeps',
      ' a journal of data that must not be lost, and one link to the control plane.',
      ' .',
      ' Recovers modems that do not answer, disconnect or lose their network.',
    ].join('\n'),
  };
  return Object.entries(fields).reduce((text, [name, value]) => `${text}${name}: ${value}\n`, '');
}

/** Returns one changelog entry in the form of Debian policy §4.4. `builtAt`: in seconds since 1970. */
function changelog(version: string, builtAt: number): string {
  const date = new Date(builtAt * 1_000).toUTCString().replace('GMT', '+0000');
  return `${NAME} (${version}) stable; urgency=medium\n\n  * Built from the sources of Simrack.\n\n -- ${MAINTAINER}  ${date}\n`;
}

const HERE = import.meta.dirname;

interface PackedFile {
  /** Path below the root of the host. */
  readonly path: string;
  readonly text: string;
  readonly mode?: number;
  /** Whether to compress it as gzip -9n does. */
  readonly isCompressed?: boolean;
}

/** Returns the files that are copied unchanged. */
function packedFiles(): PackedFile[] {
  const read = (name: string): string => readFileSync(join(HERE, name), 'utf8');
  return [
    { path: 'usr/bin/node-daemon', text: read('node-daemon.sh'), mode: 0o755 },
    { path: 'usr/lib/systemd/system/simrack-node-daemon.service', text: read('simrack-node-daemon.service') },
    { path: 'usr/lib/udev/rules.d/60-simrack-modems.rules', text: read('60-simrack-modems.rules') },
    { path: 'usr/lib/sysusers.d/simrack-node-daemon.conf', text: read('simrack-node-daemon.sysusers') },
    { path: 'etc/simrack/node-daemon.yaml', text: read('node-daemon.yaml') },
    {
      path: 'usr/share/doc/simrack-node-daemon/examples/node-daemon.yaml',
      text: read('../config/node-daemon.example.yaml'),
    },
    {
      path: 'usr/share/doc/simrack-node-daemon/examples/alerts.yaml',
      text: read('../metrics/alerts.yaml'),
    },
    { path: 'usr/share/man/man8/node-daemon.8.gz', text: read('node-daemon.8'), isCompressed: true },
  ];
}

/** Writes a file below `root`, and creates its folders. */
function writePacked(root: string, { path, text, mode = 0o644, isCompressed = false }: PackedFile): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, isCompressed ? gzipSync(text, { level: 9 }) : text);
  chmodSync(file, mode);
}
