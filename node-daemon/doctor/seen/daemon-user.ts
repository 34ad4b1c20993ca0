// The groups of the daemon's user: those of its account, or those of its processes, to which a service manager may have added some.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from './device-node.ts';
import type { Process } from './processes.ts';

/** Where the accounts are, and the programs that run. */
interface Sources {
  /** /etc on a real system: passwd(5) and group(5). */
  readonly etcRoot: string;
  readonly procRoot: string;
  readonly processes: readonly Process[];
}

/** Returns `undefined` if no account and no program has this user id: its groups are then unknown. */
export function readDaemonUser(uid: number, sources: Sources): User | undefined {
  const groups = [...accountGroups(uid, sources.etcRoot), ...processGroups(uid, sources)];
  return groups.length === 0 ? undefined : { uid, groups: [...new Set(groups)] };
}

/** Reads name:password:uid:gid in passwd, and name:password:gid:members in group. */
function accountGroups(uid: number, etcRoot: string): number[] {
  const account = rowsOf(join(etcRoot, 'passwd')).find((fields) => fields[2] === String(uid));
  if (account === undefined) return [];
  const [name = '', , , gid] = account;
  const member = rowsOf(join(etcRoot, 'group')).filter(([, , , members = '']) =>
    members.split(',').includes(name),
  );
  return [Number(gid), ...member.map(([, , each]) => Number(each))];
}

/** Programs that have devices open: the daemon is one of them. */
function processGroups(uid: number, { processes, procRoot }: Sources): number[] {
  return processes
    .filter(({ devices }) => devices.some((path) => path.startsWith('/dev/tty')))
    .flatMap(({ pid }) => groupsOf(join(procRoot, String(pid)), uid));
}

/** Reads the lines "Gid:" (real, effective, saved, file system) and "Groups:" of status (proc(5)). */
function groupsOf(folder: string, uid: number): number[] {
  try {
    if (statSync(folder).uid !== uid) return [];
    const status = readFileSync(join(folder, 'status'), 'latin1');
    const [effective] = /^Gid:\t\d+\t(\d+)/m.exec(status)?.slice(1) ?? [];
    const others = /^Groups:\t?(.*)$/m.exec(status)?.[1]?.trim() ?? '';
    return [effective ?? [], others === '' ? [] : others.split(/\s+/)].flat().map(Number);
  } catch {
    return [];
  }
}

function rowsOf(file: string): string[][] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  } catch {
    return [];
  }
}
