// The answers of a modem to doctor's queries.
import type { ModemProfile } from '../../modem/profiles/profile.ts';

/** An answer as the modem gave it. */
export interface ModemAnswer {
  /** Information responses. */
  readonly lines: readonly string[];
  /** The final result code: "OK", "ERROR", "+CME ERROR: 10". */
  readonly final: string;
}

/** Sends a modem one command line. Rejects if no answer comes. */
export type AskModem = (command: string) => Promise<ModemAnswer>;

/** All answers of one modem. */
export class ModemView {
  readonly profile: ModemProfile;
  readonly #answers: ReadonlyMap<string, ModemAnswer>;

  constructor(profile: ModemProfile, answers: ReadonlyMap<string, ModemAnswer>) {
    this.profile = profile;
    this.#answers = answers;
  }

  /** Returns the lines before "OK". Empty if the modem refused the command or was not asked. */
  lines(command: string): readonly string[] {
    const answer = this.#answers.get(command);
    return answer?.final === 'OK' ? answer.lines : [];
  }

  /** Returns the last line with this prefix. Earlier ones are URCs. */
  line(command: string, prefix: string): string | undefined {
    return this.lines(command).findLast((line) => line.startsWith(prefix));
  }

  /** Returns the first line of an answer without a prefix, or with one such as "+CGMM: ", which it removes. */
  text(command: string): string | undefined {
    const text = this.lines(command)[0]
      ?.replace(/^\+[A-Z]+: ?/, '')
      .replaceAll('"', '')
      .trim();
    return text === '' ? undefined : text;
  }

  /** Returns the number of +CME ERROR; `undefined` for any other answer. */
  cmeError(command: string): number | undefined {
    const code = /^\+CME ERROR: ?(\d+)$/.exec(this.#answers.get(command)?.final ?? '')?.[1];
    return code === undefined ? undefined : Number(code);
  }
}
