// Runs configured commands: a program with its arguments and placeholders, without a shell.
import { execFile } from 'node:child_process';

/** Time limit. Power switches and mode switches take seconds. */
const COMMAND_TIMEOUT_MS = 30_000;

/** The placeholders for data of the device. */
export const PLACEHOLDERS = ['usb_path', 'vendor', 'product', 'hub', 'port'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

const PLACE = /\{(\w+)\}/g;
const isKnown = (name: string): name is Placeholder => PLACEHOLDERS.some((known) => known === name);

/** Returns the names in `{braces}` that are not placeholders. */
export function unknownPlaceholders(word: string): string[] {
  return [...word.matchAll(PLACE)].flatMap(([, name = '']) => (isKnown(name) ? [] : [name]));
}

/** Replaces `{names}` by values. A name without a value stays unchanged. */
export function fillIn(words: readonly string[], values: Readonly<Record<Placeholder, string>>): string[] {
  return words.map((word) =>
    word.replace(PLACE, (whole, name: string) => (isKnown(name) ? values[name] : whole)),
  );
}

/** Runs a command to its end. Rejects if it does not start, fails, or takes more than 30 s. */
export function runOperatorCommand([program = '', ...words]: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { timeout: COMMAND_TIMEOUT_MS, killSignal: 'SIGKILL' as const };
    execFile(program, words, options, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** Returns hub and port of a device: "1-1.2" is port 2 of hub "1-1", "1-2" is port 2 of root hub "1". */
export function hubPortOf(usbPath: string): { hub: string; port: string } {
  const [, hub = '', port = ''] = /^(.*)[.-](\d+)$/.exec(usbPath) ?? [];
  return { hub, port };
}
