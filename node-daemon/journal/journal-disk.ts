// The file operations of the journal, their implementation with the system's files, and the identity of this boot.
import { randomUUID } from 'node:crypto';
import { constants, fdatasync, readFileSync, stat, write } from 'node:fs';
import { open } from 'node:fs/promises';

/** The operations on one file. Tests replace it to simulate a full or broken disk, a kill or a power cut. */
export interface JournalDisk {
  /** Writes at this position. The data survives a kill, but not a power cut. After a rejection the contents are undefined. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Makes all earlier writes durable (fdatasync). May be called during a write. */
  sync(): Promise<void>;
  /** Truncates the file, durably. */
  truncate(length: number): Promise<void>;
  /** Resolves with whether this path still names this file. It does not after the file was deleted or replaced. Never rejects. */
  isAt(path: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens a file, or creates it if it does not exist. */
export type OpenJournalDisk = (path: string) => Promise<JournalDisk>;

/** A real file. The callback forms of write, sync and stat cost half as much as those of a file handle. */
export const openJournalDisk: OpenJournalDisk = async (path) => {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const { dev, ino } = await handle.stat();
  return {
    async write(bytes, position) {
      // The system may write only a part, and report the reason only at the next write.
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

/** The kernel creates a new id at each boot (proc(5)). */
const BOOT_ID_PATH = '/proc/sys/kernel/random/boot_id';

/**
 * Returns an id that stays the same until the next boot. Written records survive a kill of the process, but a power cut may lose them.
 * If the system does not provide one, each call returns a new id.
 */
export function readBootId(): string {
  try {
    return readFileSync(BOOT_ID_PATH, 'utf8').trim();
  } catch {
    return randomUUID();
  }
}
