// Writes a new secret of the service to a file that only its user can read.
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The file appears whole or not at all, and never replaces another one: if another process was first, its file stays. Throws the error
 * of the system.
 */
export function writeSecretFile(path: string, text: string): void {
  const next = `${path}.${process.pid}.new`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    rmSync(next, { force: true });
    const file = openSync(next, 'wx', 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(next, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(next, { force: true });
  }
}
