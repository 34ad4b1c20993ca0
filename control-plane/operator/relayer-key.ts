// Makes a relayer's key: only the file has it.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { syncFolderSync } from '#shared/process/sync-folder.ts';

/** Returns the address. Throws if the file exists or cannot be written. */
export function makeRelayer(file: string): string {
  const key = generatePrivateKey();
  let opened: number;
  try {
    // Never replaces a file: it may contain the only copy of a key with money.
    opened = openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new Error(`${file} exists, and may contain a key: give the name of a new file`);
    throw new Error(`${file} cannot be created: ${code}`);
  }
  try {
    writeSync(opened, `${key}\n`);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  // The account may have money before the host crashes.
  syncFolderSync(dirname(file));
  return privateKeyToAccount(key).address;
}
