// A file that has its name only when it is whole and on the disk.
import { createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { BackupHeader } from './backup-format.ts';
import { verifyBackup } from './backup-reader.ts';

/** It has keys and messages in it. */
const MODE = 0o600;

/**
 * Lets `write` fill the file, reads it again from one end to the other, and gives it its name. A file of that name stays
 * as it is. What a killed process left is `<name>.partial`, and is written over.
 */
export async function saveBackup(
  path: string,
  write: (out: Writable) => Promise<void>,
): Promise<BackupHeader> {
  if (existsSync(path)) throw new OperatorRefusal(`${path} is there already: give another name`);
  const partial = `${resolve(path)}.partial`;
  try {
    await rm(partial, { force: true });
    await write(createWriteStream(partial, { flags: 'wx', mode: MODE, flush: true }));
    const header = await verifyBackup(partial);
    await rename(partial, path);
    await syncFolder(dirname(partial));
    return header;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
