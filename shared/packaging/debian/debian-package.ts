// Builds a Debian package of a program with dpkg-deb. Does not need root.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { copyright } from './copyright.ts';
import { kibibytesOf, normalize, type PackedFile, sumsOf, writePacked } from './packed-files.ts';

const MAINTAINER = 'Simrack <operators@simrack.invalid>';
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

/** The parts of one program's package that others do not share. */
export interface PackageContents {
  readonly name: string;
  /** Fields of `DEBIAN/control` (Debian policy, chapter 5), beside those that every package has. */
  readonly control: Readonly<Record<'Depends' | 'Section' | 'Description', string>> &
    Readonly<Partial<Record<'Recommends' | 'Suggests', string>>>;
  readonly files: readonly PackedFile[];
  /** Symbolic links, by their path below the root of the host. */
  readonly links?: Readonly<Record<string, string>>;
  /** Paths of the files that an upgrade does not overwrite if they were changed. */
  readonly conffiles: readonly string[];
  /** Folder of postinst, prerm and postrm. */
  readonly scripts: string;
  /** Writes the program into its folder. Resolves with the folders of the npm packages that are in it. */
  bundle(folder: string): Promise<string[]>;
}

export interface PackageBuild {
  readonly architecture: string;
  readonly version: string;
  /** Folder for the package. Created if missing. */
  readonly out: string;
  /** Time of all files in the package, in seconds since 1970. */
  readonly builtAt: number;
}

export interface BuiltPackage {
  readonly file: string;
  readonly bytes: number;
}

/** Folder of a package's program, below the root of the host. */
const programFolder = (name: string): string => `usr/lib/${name}`;

/** Builds the package. Throws if dpkg-deb is missing or fails. */
export async function buildDebianPackage(
  { bundle, conffiles, control, files, links = {}, name, scripts }: PackageContents,
  { architecture, version, out, builtAt }: PackageBuild,
): Promise<BuiltPackage> {
  const root = mkdtempSync(join(tmpdir(), `${name}-`));
  try {
    chmodSync(root, 0o755);
    const program = join(root, programFolder(name));
    mkdirSync(program, { recursive: true });
    const packages = await bundle(program);
    for (const file of files) writePacked(root, file);
    const documents = `usr/share/doc/${name}`;
    writePacked(root, { path: `${documents}/copyright`, text: copyright(programFolder(name), packages) });
    writePacked(root, {
      path: `${documents}/changelog.gz`,
      text: changelog(name, version, builtAt),
      isCompressed: true,
    });
    const { Depends, Recommends, Suggests, Section, Description } = control;
    const fields = {
      Package: name,
      Version: version,
      Architecture: architecture,
      Maintainer: MAINTAINER,
      'Installed-Size': kibibytesOf(root),
      Depends,
      Recommends,
      Suggests,
      Section,
      Priority: 'optional',
      Description,
    };
    writePacked(root, { path: 'DEBIAN/md5sums', text: sumsOf(root) });
    writePacked(root, { path: 'DEBIAN/control', text: controlText(fields) });
    writePacked(root, { path: 'DEBIAN/conffiles', text: conffiles.map((path) => `/${path}\n`).join('') });
    for (const script of SCRIPTS) {
      const text = readFileSync(join(scripts, script), 'utf8');
      writePacked(root, { path: `DEBIAN/${script}`, text, mode: 0o755 });
    }
    normalize(root, builtAt);
    for (const [path, target] of Object.entries(links)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      symlinkSync(target, join(root, path));
    }
    mkdirSync(out, { recursive: true });
    const file = join(resolve(out), `${name}_${version}_${architecture}.deb`);
    pack(root, file, builtAt);
    return { file, bytes: statSync(file).size };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** dpkg-deb gives everything that is younger than `builtAt` that time. */
function pack(root: string, file: string, builtAt: number): void {
  // The highest level would take seven times as long for a package that is a seventh smaller.
  const words = ['--root-owner-group', '-Zxz', '-z1', '--uniform-compression', '--build', root, file];
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

const controlText = (fields: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(fields)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}: ${value}\n`))
    .join('');

/** Returns one changelog entry in the form of Debian policy §4.4. `builtAt`: in seconds since 1970. */
function changelog(name: string, version: string, builtAt: number): string {
  const date = new Date(builtAt * 1_000).toUTCString().replace('GMT', '+0000');
  return `${name} (${version}) stable; urgency=medium\n\n  * Built from the sources of Simrack.\n\n -- ${MAINTAINER}  ${date}\n`;
}
