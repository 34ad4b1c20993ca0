// The files under the journal: the calls that it needs from the system, and the system's own.
import { constants, fdatasync, stat, write } from 'node:fs';
import { open } from 'node:fs/promises';

/** A file as the journal uses it. Tests replace it to simulate a full or broken disk, a kill or a power cut. */
export interface JournalDisk {
  /** Writes there: a kill cannot take it back, a power cut can. After a rejection anything may be there. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Makes all that was written before durable (fdatasync). May be called while a write is under way. */
  sync(): Promise<void>;
  /** Cuts the file and makes that durable. */
  truncate(length: number): Promise<void>;
  /** Whether this path names this file. It does not once the file was deleted or replaced. Never rejects. */
  isAt(path: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens a file; makes it when it is not there. */
export type OpenJournalDisk = (path: string) => Promise<JournalDisk>;

/** The real file. The callback forms of write, sync and stat cost half of what those of a file handle do. */
export const openJournalDisk: OpenJournalDisk = async (path) => {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const { dev, ino } = await handle.stat();
  return {
    async write(bytes, position) {
      // The system may take a part, and say only the next time why not all.
      for (let taken = 0; taken < bytes.length; ) {
        taken += await writeSome(handle.fd, bytes.subarray(taken), position + taken);
      }
    },
    sync: () =>
      new Promise((resolve, reject) => {
        fdatasync(handle.fd, (error) => (error === null ? resolve() : reject(error)));
      }),
    async truncate(length) {
      await handle.truncate(length);
      await handle.sync();
    },
    isAt: (place) =>
      new Promise((resolve) => {
        stat(place, (error, there) => resolve(error === null && there.ino === ino && there.dev === dev));
      }),
    close: () => handle.close(),
  };
};

function writeSome(fd: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, 0, bytes.length, position, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}

/** Makes renames and new names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
