// The command line with which the reader of a hint runs one of our programs, never a name that npx would fetch from a registry.
import { join, relative } from 'node:path';
import { IS_PACKAGED } from './version.ts';

const BINS = {
  'control-plane': 'control-plane/bin.mjs',
  'node-daemon': 'node-daemon/bin.cjs',
  simrack: 'control-plane/client/bin.mjs',
} as const;

const CHECKOUT = join(import.meta.dirname, '../..');

/**
 * "node-daemon" from the Debian package, "npx --no-install node-daemon" in a checkout, "node <its file>"
 * elsewhere. A plain npx would fetch a stranger's package if it does not find ours.
 */
export function ownCommand(
  program: keyof typeof BINS,
  { isPackaged = IS_PACKAGED, folder = currentFolder() } = {},
): string {
  if (isPackaged) return program;
  return relative(CHECKOUT, folder).startsWith('..')
    ? `node ${quoted(join(CHECKOUT, BINS[program]))}`
    : `npx --no-install ${program}`;
}

/** The folder may have been deleted. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}

/** A path as a shell takes it. */
export const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
