// A lock on a folder that ends with the process, however it ends: no stale lock file to remove by hand.
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';

export class FolderInUseError extends Error {
  override name = 'FolderInUseError';
}

/**
 * Takes the folder for this process. Throws `FolderInUseError` while another process has it.
 *
 * The lock is a listening socket in Linux' abstract namespace (unix(7)): the kernel frees it when the
 * process dies, kill -9 included. On other systems nothing is locked.
 */
export async function lockFolder(folder: string, program: string): Promise<() => Promise<void>> {
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
