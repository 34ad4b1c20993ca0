// Reads the effect of this host's udev rules on modems from the text of the rules (udev(7)).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders from which udev reads rules. */
const UDEV_RULES_FOLDERS = [
  '/etc/udev/rules.d',
  '/run/udev/rules.d',
  '/usr/local/lib/udev/rules.d',
  '/usr/lib/udev/rules.d',
  '/lib/udev/rules.d',
] as const;

/** USB vendors (four hexadecimal digits) with rules for their devices. */
export interface UdevRules {
  /** Vendors that ModemManager ignores. */
  readonly ignoredByModemManager: ReadonlySet<string>;
  /** Vendors whose autosuspend is turned off. */
  readonly awake: ReadonlySet<string>;
}

/** Reads all rules. Never rejects. Ignores folders and files that cannot be read. */
export async function readUdevRules(folders: readonly string[] = UDEV_RULES_FOLDERS): Promise<UdevRules> {
  const texts = await Promise.all(folders.map(textsIn));
  // A line that ends in a backslash continues.
  const files = texts.flat().map((text) => text.replaceAll('\\\n', ' '));
  const vendorsOf = (setting: RegExp): Set<string> => {
    const vendors = files.filter((text) => setting.test(text)).flatMap(vendorsIn);
    return new Set(vendors);
  };
  return {
    ignoredByModemManager: vendorsOf(/^[^#\n]*ENV\{ID_MM_(DEVICE|PORT)_IGNORE\}\s*=\s*"1"/m),
    awake: vendorsOf(/^[^#\n]*ATTR\{power\/control\}\s*=\s*"on"/m),
  };
}

/** A file may test the vendor on a line of its own and jump, so all vendors of the file count. */
function vendorsIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  const tests = lines
    .join('\n')
    .matchAll(/(?:ATTRS?\{idVendor\}|ENV\{ID_VENDOR_ID\}|ENV\{ID_USB_VENDOR_ID\})\s*==\s*"([^"]*)"/g);
  return [...tests].flatMap(([, value = '']) => value.toLowerCase().split('|'));
}

async function textsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.rules'));
  return Promise.all(files.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
}
