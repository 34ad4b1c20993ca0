// A lock as a file with the number of its process, for systems without a kernel that frees a lock when its process dies.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Takes the file for this process, also from one that no longer runs. Otherwise returns the `holder` that the running process gave: empty
 * if it is not known.
 */
export function takeLockFile(file: string, holder: string): string | undefined {
  for (;;) {
    if (isMade(file, `${process.pid} ${holder}`)) return undefined;
    const text = unlessMissing(() => readFileSync(file, 'utf8'));
    if (text === undefined) continue;
    const [, pid, by = ''] = /^(\d+) (.+)$/.exec(text) ?? [];
    // Without a number it is being written.
    if (pid === undefined || isRunning(Number(pid))) return by;
    putAside(file, text);
  }
}

function isMade(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the file with this text. Of several processes that find it, only one can rename it; the others may get the next one's file. */
function putAside(file: string, text: string): void {
  const aside = `${file}.${process.pid}`;
  const moved = unlessMissing(() => {
    renameSync(file, aside);
    return readFileSync(aside, 'utf8');
  });
  if (moved === text) rmSync(aside);
  else if (moved !== undefined) renameSync(aside, file);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs as another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
