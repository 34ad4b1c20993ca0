// Users and groups that own the daemon's files: checks the owner of a data folder, and advises a person who may not use a file.
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The folder belongs to another user. The message names the user who must run the program. */
export class OthersFolderError extends Error {
  override name = 'OthersFolderError';
}

/** Throws `OthersFolderError` if root runs the program and another user owns the existing folder. */
export function refuseOthersFolder(dataDir: string): void {
  const folder = statSync(dataDir, { throwIfNoEntry: false });
  if (process.getuid?.() !== 0 || folder === undefined || folder.uid === 0) return;
  const name = nameIn('/etc/passwd', folder.uid);
  const [owner, user] = name === undefined ? [`user ${folder.uid}`, `'#${folder.uid}'`] : [name, name];
  throw new OthersFolderError(
    `${dataDir} belongs to ${owner}. Run the command as that user: sudo -u ${user} node-daemon …`,
  );
}

/** Returns the name of an id in /etc/passwd or /etc/group (passwd(5), group(5)). */
function nameIn(file: '/etc/passwd' | '/etc/group', id: number): string | undefined {
  try {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
    return lines.find(([, , number]) => number === String(id))?.[0];
  } catch {
    return undefined;
  }
}

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
