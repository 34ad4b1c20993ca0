// Checks the owner of a data folder. A daemon could not open files that root creates in its folder.
import { readFileSync, statSync } from 'node:fs';

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
export function nameIn(file: '/etc/passwd' | '/etc/group', id: number): string | undefined {
  try {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
    return lines.find(([, , number]) => number === String(id))?.[0];
  } catch {
    return undefined;
  }
}
