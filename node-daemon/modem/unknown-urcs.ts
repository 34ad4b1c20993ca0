// Logs each URC that the profile does not contain once, by name.
import type { Logger } from '#shared/log.ts';

/** A noisy line produces many names, so their number is limited. */
const NAMES_MAX = 32;

/** The unknown URCs of one session. */
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
    this.#log.info({ urc: name }, 'unknown URC: the profile does not list it');
  }
}
