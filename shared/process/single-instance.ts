// A lock on a folder that ends with the process, even if it is killed.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { takeLockFile } from './lock-file.ts';
import { onOneLine } from './terminal.ts';

export class FolderInUseError extends Error {
  override name = 'FolderInUseError';
  /** Where the lock is a file. The number of a process that was killed may be that of another one by now. */
  readonly lockFile: string | undefined;

  constructor(folder: string, by: string, { lockFile, cause }: { lockFile?: string; cause?: unknown } = {}) {
    const hint = lockFile === undefined ? '' : `. If that is not so, remove ${lockFile}`;
    super(`${folder} is in use by ${by}${hint}`, { cause });
    this.lockFile = lockFile;
  }
}

/** The process that has a folder answers within this time, or hangs. */
const HOLDER_TIMEOUT_MS = 500;
const HOLDER_LENGTH_MAX = 256;

/**
 * Takes the folder for this process, and makes it, with `mode`, when it is missing. Throws
 * `FolderInUseError` with what another process that has it gave as its `holder`.
 *
 * The lock is a listening socket in Linux' abstract namespace (unix(7)): the kernel frees it when the
 * process dies, kill -9 included. On other systems it is a file beside the folder with the number of the
 * process: one that no longer runs does not count.
 */
export async function lockFolder(
  folder: string,
  program: string,
  mode = 0o755,
  holder = `another ${program}`,
  platform: NodeJS.Platform = process.platform,
): Promise<() => Promise<void>> {
  makeFolder(resolve(folder), mode);
  const path = realpathSync(folder);
  if (platform !== 'linux') {
    const lockFile = `${path}.${program.replace(/[^\w-]+/g, '_')}.lock`;
    const by = takeLockFile(lockFile, holder);
    if (by === undefined) return async () => rmSync(lockFile, { force: true });
    throw new FolderInUseError(folder, by || `another ${program}`, { lockFile });
  }
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 32);
  const address = `\0simrack-${program}-${digest}`;
  const server = createServer((socket) => socket.on('error', () => undefined).end(holder));
  try {
    server.listen({ path: address });
    await once(server, 'listening');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
    const by = (await holderAt(address)) || `another ${program}`;
    throw new FolderInUseError(folder, by, { cause });
  }
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/** Empty if that process does not say. */
function holderAt(path: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ path, timeout: HOLDER_TIMEOUT_MS }).setEncoding('utf8');
    socket.on('data', (chunk) => {
      text = (text + String(chunk)).slice(0, HOLDER_LENGTH_MAX);
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(onOneLine(text)));
  });
}

// One level at a time: Node's recursive mkdir never returns below /proc, where no folder can be made.
function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error;
    makeFolder(dirname(folder), mode);
    mkdirSync(folder, { mode });
  }
}
