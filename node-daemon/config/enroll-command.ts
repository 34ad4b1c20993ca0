// The command that enrolls the node of a data folder, as the log, the doctor and the status page of its daemon print it.
import { resolve } from 'node:path';
import { ownCommand, quoted } from '#shared/process/own-command.ts';
import { IS_PACKAGED } from '#shared/process/version.ts';
import { DEFAULT_DATA_DIR } from './options.ts';

/** The start file of the package sets it. */
const PACKAGED_DATA_DIR = '/var/lib/simrack-node';

/** Names the folder unless the command uses it anyway. */
export function enrollCommand(dataDir: string, { isPackaged = IS_PACKAGED } = {}): string {
  const folder = resolve(dataDir);
  const usual = resolve(isPackaged ? PACKAGED_DATA_DIR : DEFAULT_DATA_DIR);
  return `${ownCommand('node-daemon', { isPackaged })} enroll <url> <code>${folder === usual ? '' : ` --data-dir ${quoted(folder)}`}`;
}
