// Advice for a person who may not use a file of the daemon.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { nameIn } from './folder-owner.ts';

const GROUP_BITS = 0o070;
const ROOT = 0;

/** How to get at `path`: by its group, where that has a right that others lack. */
export function howToGetAt(path: string): string {
  const group = groupOf(path);
  if (group === undefined) return 'use sudo, or run the command as the owner';
  return `use sudo, or join group ${group}: sudo usermod -aG ${group} $USER, then log in again`;
}

/** The group whose members have access: the group of the file, or of the folder that cannot be read. */
function groupOf(path: string): string | undefined {
  try {
    const { gid, mode } = statSync(path);
    return gid === ROOT || (mode & GROUP_BITS) === 0 ? undefined : nameIn('/etc/group', gid);
  } catch {
    return dirname(path) === path ? undefined : groupOf(dirname(path));
  }
}
