// A device file: the users who may use it, and the programs that do.
import { realpathSync, statSync } from 'node:fs';
import { type FileLock, lockNameOf, type Process } from './processes.ts';

/** The user that examines. */
export interface User {
  readonly uid: number;
  /** Of the process: the first and all others. */
  readonly groups: readonly number[];
}

/** A program that has the device. */
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

/** The programs of the host, and the locks that they hold. */
export interface Programs {
  readonly processes: readonly Process[];
  readonly locks: readonly FileLock[];
  /** Those that hold devices rightly: this process. */
  readonly own: readonly number[];
}

/** Reads a device file; `undefined` when there is none. */
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

/** Whether the user may read and write it. */
export function mayUse({ uid, groups }: User, node: Pick<DeviceNode, 'uid' | 'gid' | 'mode'>): boolean {
  if (uid === 0) return true;
  const shift = uid === node.uid ? 6 : groups.includes(node.gid) ? 3 : 0;
  return ((node.mode >> shift) & 6) === 6;
}
