// Reads a device file: its permissions, and the programs that have it open.
import { realpathSync, statSync } from 'node:fs';
import { type FileLock, lockNameOf, type Process } from './processes.ts';

/** The user that runs doctor. */
export interface User {
  readonly uid: number;
  /** All groups of the process. */
  readonly groups: readonly number[];
}

/** A program that has the device open. */
export interface Holder {
  readonly pid: number;
  readonly name: string;
  /** Whether it locked the device, so that no other program opens it. */
  readonly hasLock: boolean;
}

export interface DeviceNode {
  readonly path: string;
  readonly uid: number;
  readonly gid: number;
  /** Permission bits. */
  readonly mode: number;
  readonly holders: readonly Holder[];
}

/** The programs of the host and their locks. */
export interface Programs {
  readonly processes: readonly Process[];
  readonly locks: readonly FileLock[];
  /** Programs that may have devices open: this process. */
  readonly own: readonly number[];
}

/** Reads a device file. Returns `undefined` if there is none. */
export function readDeviceNode(path: string, { processes, locks, own }: Programs): DeviceNode | undefined {
  try {
    const real = realpathSync(path);
    const stat = statSync(real, { bigint: true });
    const lockName = lockNameOf(stat);
    const lockers = new Set(locks.filter(({ file }) => file === lockName).map(({ pid }) => pid));
    const holders = processes
      .filter(({ pid, devices }) => !own.includes(pid) && (lockers.has(pid) || devices.includes(real)))
      .map(({ pid, name }) => ({ pid, name, hasLock: lockers.has(pid) }));
    return { path, holders, uid: Number(stat.uid), gid: Number(stat.gid), mode: Number(stat.mode) & 0o777 };
  } catch {
    return undefined;
  }
}

/** Returns whether the user may read and write the device. */
export function mayUse({ uid, groups }: User, node: Pick<DeviceNode, 'uid' | 'gid' | 'mode'>): boolean {
  if (uid === 0) return true;
  const shift = uid === node.uid ? 6 : groups.includes(node.gid) ? 3 : 0;
  return ((node.mode >> shift) & 6) === 6;
}
