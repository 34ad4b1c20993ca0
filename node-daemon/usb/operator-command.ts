// Commands of the operator: a program with its arguments, places filled in, run without a shell.
import { execFile } from 'node:child_process';

/** Power switches and mode switches take seconds. */
const COMMAND_TIMEOUT_MS = 30_000;

/** The facts of its device that a command may name. */
export const PLACEHOLDERS = ['usb_path', 'vendor', 'product', 'hub', 'port'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

const PLACE = /\{(\w+)\}/g;
const isKnown = (name: string): name is Placeholder => PLACEHOLDERS.some((known) => known === name);

/** Names in `{braces}` that are not placeholders. */
export function unknownPlaceholders(word: string): string[] {
  return [...word.matchAll(PLACE)].flatMap(([, name = '']) => (isKnown(name) ? [] : [name]));
}

/** Puts values into `{names}`; a name without a value stays as it is. */
export function fillIn(words: readonly string[], values: Readonly<Record<Placeholder, string>>): string[] {
  return words.map((word) =>
    word.replace(PLACE, (whole, name: string) => (isKnown(name) ? values[name] : whole)),
  );
}

/** Runs a command to its end. Rejects when it cannot be started, fails, or takes more than 30 s. */
export function runCommand([program = '', ...words]: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { timeout: COMMAND_TIMEOUT_MS, killSignal: 'SIGKILL' as const };
    execFile(program, words, options, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** The hub and its port that a device is plugged into: "1-1.2" is port 2 of hub "1-1", "1-2" of root hub "1". */
export function hubPortOf(usbPath: string): { hub: string; port: string } {
  const [, hub = '', port = ''] = /^(.*)[.-](\d+)$/.exec(usbPath) ?? [];
  return { hub, port };
}
