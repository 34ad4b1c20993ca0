// The owner of a data folder. Another user's daemon cannot open files that root writes into that user's folder.
import { readFileSync, statSync } from 'node:fs';

/** The folder is another user's; the message names the user who must run the program. */
export class OthersFolderError extends Error {
  override name = 'OthersFolderError';
}

/** Throws `OthersFolderError` for root where the folder is there and is not root's. */
export function refuseOthersFolder(dataDir: string): void {
  const folder = statSync(dataDir, { throwIfNoEntry: false });
  if (process.getuid?.() !== 0 || folder === undefined || folder.uid === 0) return;
  const name = nameIn('/etc/passwd', folder.uid);
  const [owner, user] = name === undefined ? [`user ${folder.uid}`, `'#${folder.uid}'`] : [name, name];
  throw new OthersFolderError(
    `${dataDir} belongs to ${owner}. Run the command as that user: sudo -u ${user} node-daemon …`,
  );
}

/** The name behind a number in /etc/passwd or /etc/group (passwd(5), group(5)). */
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
