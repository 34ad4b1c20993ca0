// Writes a file that gets its name only when it is complete and on the disk.
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from '#shared/process/sync-folder.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { type VerifiedBackup, verifyBackup } from './backup-reader.ts';
import type { BackupKey, WriteBackup } from './encryption.ts';

/** The file contains keys and messages. */
const MODE = 0o600;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Errors of file systems without hard links. */
const NO_LINK_CODES = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'];

/**
 * Lets `write` fill the file, reads all of it again (`key` opens it), and gives it its name. Throws `OperatorRefusal` if the file cannot be
 * created, and if the name exists: the existing file stays. Until then it is `<name>.<random>.partial`, a name of its own; only kill -9
 * leaves that behind.
 */
export async function saveBackup(path: string, write: WriteBackup, key?: BackupKey): Promise<VerifiedBackup> {
  if (existsSync(path)) throw takenName(path);
  const partial = `${resolve(path)}.${randomBytes(4).toString('hex')}.partial`;
  // First of all: a signal may arrive together with the file.
  const keep = removeWhenStopped(partial);
  let out: Writable | undefined;
  try {
    out = (await create(partial)).createWriteStream({ flush: true });
    await write(out);
    const verified = await verifyBackup(partial, key);
    await giveName(partial, path);
    await syncFolder(dirname(partial));
    return verified;
  } finally {
    if (out !== undefined) {
      out.destroy();
      await rm(partial, { force: true });
    }
    keep();
  }
}

/** Copies `source` to a file for as long as `work` takes: a backup is read twice, and trusted only when all of it is there. */
export async function withCopy<T>(source: Readable, work: (path: string) => Promise<T>): Promise<T> {
  const path = join(tmpdir(), `simrack-${randomBytes(8).toString('hex')}.backup`);
  const keep = removeWhenStopped(path);
  try {
    await pipeline(source, (await create(path)).createWriteStream());
    return await work(path);
  } finally {
    await rm(path, { force: true });
    keep();
  }
}

const takenName = (path: string): OperatorRefusal =>
  new OperatorRefusal(`${path} already exists. Choose another name.`);

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', MODE);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const folder = dirname(path);
    if (code === 'ENOENT') throw new OperatorRefusal(`The folder ${folder} does not exist.`);
    if (code === 'ENOTDIR') throw new OperatorRefusal(`${folder} is not a folder.`);
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
      throw new OperatorRefusal(`No permission to write to ${folder} (${code}).`);
    throw error;
  }
}

/** A rename would replace a file that was created meanwhile. */
async function giveName(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw takenName(path);
    if (!NO_LINK_CODES.includes(code)) throw error;
    await rename(partial, path);
  }
}

/** Returns a function that cancels it. The signal still ends the process, as it does without this. */
function removeWhenStopped(path: string): () => void {
  const handlers = STOP_SIGNALS.map((signal) => {
    const handle = (): void => {
      rmSync(path, { force: true });
      process.kill(process.pid, signal);
    };
    process.once(signal, handle);
    return { signal, handle };
  });
  return () => {
    for (const { signal, handle } of handlers) process.off(signal, handle);
  };
}
