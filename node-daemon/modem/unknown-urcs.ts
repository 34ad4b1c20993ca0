// URCs that no profile knows: logged once each, by name.
import type { Logger } from '#shared/log.ts';

/** A line full of noise has many names. */
const NAMES_MAX = 32;

/** Those of one session. */
export class UnknownUrcs {
  readonly #log: Logger;
  readonly #names = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  note(line: string): void {
    // A number may follow the name.
    const name = /^[^:=\d]{0,16}/.exec(line)?.[0] ?? '';
    if (this.#names.has(name) || this.#names.size >= NAMES_MAX) return;
    this.#names.add(name);
    this.#log.info({ urc: name }, 'unknown URC: not in the profile');
  }
}
