// Logs once, by name, each URC that neither the session nor the profile knows.
import type { Logger } from '#shared/log.ts';
import type { ModemProfile } from '../profiles/profile.ts';

/** URCs that need no log: messages, early registrations, and late ends of commands. */
const KNOWN = /^(\+(CMTI|CMT|CDSI|CDS|CBM|C5?G?REG|CEREG|CMGS|CSQ):|OK$|ERROR$|AT)/;
/** A noisy line produces many names, so their number is limited. */
const NAMES_MAX = 32;

/** The unknown URCs of one session. */
export class UnknownUrcs {
  readonly #log: Logger;
  readonly #names = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs a line that no part has handled, unless it needs no log. */
  note(line: string, { urcs, voice }: ModemProfile): void {
    if (KNOWN.test(line) || urcs.ignorable.test(line) || voice.event(line) !== undefined) return;
    // A number may follow the name.
    const name = /^[^:=\d]{0,16}/.exec(line)?.[0] ?? '';
    if (this.#names.has(name) || this.#names.size >= NAMES_MAX) return;
    this.#names.add(name);
    this.#log.info({ urc: name }, 'unknown URC: the profile does not list it');
  }
}
