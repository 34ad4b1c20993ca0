// A lock on a folder that ends with the process, however it ends: no stale lock file to remove by hand.
import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';

export class FolderInUseError extends Error {
  override name = 'FolderInUseError';
}

/**
 * Takes the folder for this process, and makes it, with `mode`, when it is missing. Throws
 * `FolderInUseError` while another process has it.
 *
 * The lock is a listening socket in Linux' abstract namespace (unix(7)): the kernel frees it when the
 * process dies, kill -9 included. On other systems nothing is locked.
 */
export async function lockFolder(
  folder: string,
  program: string,
  mode = 0o755,
): Promise<() => Promise<void>> {
  makeFolder(resolve(folder), mode);
  if (process.platform !== 'linux') return async () => undefined;
  const digest = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE';
      reject(taken ? new FolderInUseError(`${folder} is in use by another ${program}`) : cause);
    });
    server.listen({ path: `\0simrack-${program}-${digest}` }, resolve);
  });
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}

// One level at a time: Node's own recursive way never ends below /proc, where nothing can be made.
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
