// Advice for a person who may not use a file of the daemon.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { nameIn } from './folder-owner.ts';

const GROUP_BITS = 0o070;
const ROOT = 0;

/** Returns advice on how to access `path`: with its group, if that has a right that others lack. */
export function howToGetAt(path: string): string {
  const group = groupOf(path);
  if (group === undefined) return 'use sudo, or run the command as the owner';
  return `use sudo, or join group ${group}: sudo usermod -aG ${group} $USER, then log in again`;
}

/** Returns the group whose members have access: that of the file, or that of an unreadable folder above it. */
function groupOf(path: string): string | undefined {
  try {
    const { gid, mode } = statSync(path);
    return gid === ROOT || (mode & GROUP_BITS) === 0 ? undefined : nameIn('/etc/group', gid);
  } catch {
    return dirname(path) === path ? undefined : groupOf(dirname(path));
  }
}
