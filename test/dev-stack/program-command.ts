// How an operator starts one of our programs.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** The arguments of Node, in the project's folder: the flags of the first line of `program`, such as `control-plane/bin.mjs`, and `program`. */
export function commandOf(program: string): string[] {
  const [, flags] = /^#!\S+ -S node (.*)$/m.exec(readFileSync(join(PROJECT_FOLDER, program), 'utf8')) ?? [];
  return [...(flags?.split(' ') ?? []), program];
}
