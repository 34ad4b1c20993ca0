// Makes an OCI image layout from a Debian package: a small Debian with Node.js below, the package's files above. Needs no root and no daemon.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const SUITE = 'trixie';
/** A number, so that Kubernetes can see that it is not root; Debian assigns none of this range. */
const USER_ID = 64_100;
const TIMEOUT_MS = 600_000;

/** The parts of one program's image that others do not share. */
export interface ImageContents {
  readonly name: string;
  readonly user: { readonly name: string; readonly home: string };
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** TCP port that it serves. */
  readonly port?: number;
}

interface ImageBuild {
  /** The Debian package. */
  readonly file: string;
  /** Tag of the image. */
  readonly version: string;
  /** Folder for the image. */
  readonly out: string;
  /** In seconds since 1970. */
  readonly builtAt: number;
}

/** Makes the image for the architecture of this host. Returns its layout and tag, as skopeo names them. Throws if a program is missing or fails. */
export function buildImage(
  { name, user, entrypoint, environment, port }: ImageContents,
  { file, version, out, builtAt }: ImageBuild,
): string {
  const layout = join(resolve(out), `${name}-image`);
  // A tag of OCI has no tilde and no plus.
  const image = `${layout}:${version.replaceAll(/[~+]/g, '-')}`;
  const folder = mkdtempSync(join(tmpdir(), `${name}-image-`));
  const epoch = { SOURCE_DATE_EPOCH: String(builtAt) };
  try {
    const base = join(folder, 'base.tar');
    const program = join(folder, 'program.tar');
    const hook = [
      `echo '${user.name}:x:${USER_ID}:${USER_ID}::${user.home}:/usr/sbin/nologin' >>"$1/etc/passwd"`,
      `echo '${user.name}:x:${USER_ID}:' >>"$1/etc/group"`,
      `install -d -m 0700 -o ${USER_ID} -g ${USER_ID} "$1${user.home}"`,
    ].join(' && ');
    const without = ['man', 'locale', 'doc'].flatMap((each) => [
      '--dpkgopt',
      `path-exclude=/usr/share/${each}/*`,
    ]);
    run(
      'mmdebstrap',
      [
        '--variant=essential',
        '--include=nodejs',
        '--format=tar',
        '--quiet',
        ...without,
        '--dpkgopt=path-include=/usr/share/doc/*/copyright',
        `--customize-hook=${hook}`,
        SUITE,
        base,
      ],
      { env: epoch },
    );
    const output = openSync(program, 'w');
    run('dpkg-deb', ['--fsys-tarfile', file], { stdout: output });
    closeSync(output);
    rmSync(layout, { recursive: true, force: true });
    run('umoci', ['init', '--layout', layout]);
    run('umoci', ['new', '--image', image]);
    for (const layer of [base, program]) run('umoci', ['raw', 'add-layer', '--image', image, layer]);
    run('umoci', [
      'config',
      ...['--image', image],
      ...['--config.user', `${USER_ID}:${USER_ID}`],
      ...['--config.workingdir', user.home],
      ...['--config.volume', user.home],
      ...['--config.stopsignal', 'SIGTERM'],
      ...entrypoint.flatMap((word) => ['--config.entrypoint', word]),
      ...Object.entries(environment).flatMap(([key, value]) => ['--config.env', `${key}=${value}`]),
      ...(port === undefined ? [] : ['--config.exposedports', `${port}/tcp`]),
      ...['--created', new Date(builtAt * 1_000).toISOString()],
    ]);
    return image;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(
  program: string,
  words: readonly string[],
  { env = {}, stdout = 'ignore' }: { env?: Record<string, string>; stdout?: number | 'ignore' } = {},
): void {
  try {
    execFileSync(program, words, {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env },
      stdio: ['ignore', stdout, 'pipe'],
      timeout: TIMEOUT_MS,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`${program} was not found: install the package ${program}`, { cause: error });
  }
}
