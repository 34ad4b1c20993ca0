// Reads the programs of this host and their open devices from /proc (proc(5)).
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Any further processes are ignored. */
const PROCESSES_MAX = 8192;
const FILES_MAX = 4096;

export interface Process {
  readonly pid: number;
  /** The first 15 letters of the program's name. */
  readonly name: string;
  /** Open paths below /dev. Empty if this user may not see them. */
  readonly devices: readonly string[];
}

/** A lock on a whole file (flock(2), fcntl(2)). */
export interface FileLock {
  readonly pid: number;
  /** "<major>:<minor>:<inode>" of the file, as in /proc/locks: the device numbers are in hex. */
  readonly file: string;
}

/** Returns all visible processes. Reads synchronously: /proc is in memory. */
export function readProcesses(procRoot: string): Process[] {
  return namesIn(procRoot)
    .filter((name) => /^\d+$/.test(name))
    .slice(0, PROCESSES_MAX)
    .flatMap((name) => {
      const folder = join(procRoot, name);
      const comm = textOf(join(folder, 'comm'));
      // The process ended meanwhile.
      if (comm === undefined) return [];
      return [{ pid: Number(name), name: comm, devices: devicesOf(join(folder, 'fd')) }];
    });
}

export function readLocks(procRoot: string): FileLock[] {
  const lines = (textOf(join(procRoot, 'locks')) ?? '').split('\n');
  return lines.flatMap((line) => {
    const [, pid, file] = /^\d+: \w+\s+\w+\s+\w+\s+(-?\d+) ([0-9a-f]+:[0-9a-f]+:\d+) /.exec(line) ?? [];
    return pid === undefined || file === undefined ? [] : [{ pid: Number(pid), file }];
  });
}

/** Returns the name of a file in /proc/locks, from its `stat`. */
export function lockNameOf({ dev, ino }: { dev: bigint; ino: bigint }): string {
  const major = (dev >> 8n) & 0xfffn;
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xfff00n);
  const hex = (value: bigint): string => value.toString(16).padStart(2, '0');
  return `${hex(major)}:${hex(minor)}:${ino}`;
}

function devicesOf(folder: string): string[] {
  const targets = namesIn(folder)
    .slice(0, FILES_MAX)
    .flatMap((name) => {
      try {
        return [readlinkSync(join(folder, name))];
      } catch {
        return [];
      }
    });
  return [...new Set(targets.filter((target) => target.startsWith('/dev/')))];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
