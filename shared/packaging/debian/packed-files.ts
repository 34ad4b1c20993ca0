// The files of a Debian package while it is made: written, counted, and set to one time.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface PackedFile {
  /** Path below the root of the host. */
  readonly path: string;
  readonly text: string;
  readonly mode?: number;
  /** Whether to compress it as gzip -9n does. */
  readonly isCompressed?: boolean;
}

/** Writes a file below `root`, and creates its folders. */
export function writePacked(
  root: string,
  { path, text, mode = 0o644, isCompressed = false }: PackedFile,
): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, isCompressed ? gzipSync(text, { level: 9 }) : text);
  chmodSync(file, mode);
}

/** Paths of all files below the folder, in order, without those of `DEBIAN/`. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => dirname(path) !== 'DEBIAN')
    .sort();
}

/** The text of `DEBIAN/md5sums`. */
export const sumsOf = (root: string): string =>
  filesBelow(root)
    .map(
      (path) =>
        `${createHash('md5')
          .update(readFileSync(join(root, path)))
          .digest('hex')}  ${path}\n`,
    )
    .join('');

/** As `Installed-Size` counts. */
export const kibibytesOf = (root: string): number =>
  filesBelow(root).reduce((sum, path) => sum + Math.ceil(statSync(join(root, path)).size / 1024), 0);

/** Sets all modes and times to the same values, so that each build gives the same package. `at`: in seconds since 1970. */
export function normalize(path: string, at: number): void {
  const status = statSync(path);
  if (status.isDirectory()) {
    for (const name of readdirSync(path)) normalize(join(path, name), at);
    chmodSync(path, 0o755);
  } else chmodSync(path, (status.mode & 0o100) === 0 ? 0o644 : 0o755);
  utimesSync(path, at, at);
}
