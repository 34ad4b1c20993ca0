// The answers of a modem, before any judgment.
import type { ModemProfile } from '../../modem/profiles/profile.ts';

/** An answer as the modem gave it. */
export interface ModemAnswer {
  /** Information responses. */
  readonly lines: readonly string[];
  /** The final result code: "OK", "ERROR", "+CME ERROR: 10". */
  readonly final: string;
}

/** Gives a modem one command line. Rejects when no answer comes. */
export type AskModem = (command: string) => Promise<ModemAnswer>;

/** All answers of one modem. */
export class ModemView {
  readonly profile: ModemProfile;
  readonly #answers: ReadonlyMap<string, ModemAnswer>;

  constructor(profile: ModemProfile, answers: ReadonlyMap<string, ModemAnswer>) {
    this.profile = profile;
    this.#answers = answers;
  }

  /** Lines that came before "OK"; none when it was refused, or not asked. */
  lines(command: string): readonly string[] {
    const answer = this.#answers.get(command);
    return answer?.final === 'OK' ? answer.lines : [];
  }

  /** The last line with this prefix, as `lines` has them: earlier ones came by themselves. */
  line(command: string, prefix: string): string | undefined {
    return this.lines(command).findLast((line) => line.startsWith(prefix));
  }

  /** The first line of an answer that has no prefix, or "+CGMM: " in front. */
  text(command: string): string | undefined {
    const text = this.lines(command)[0]
      ?.replace(/^\+[A-Z]+: ?/, '')
      .replaceAll('"', '')
      .trim();
    return text === '' ? undefined : text;
  }

  /** The number of +CME ERROR; `undefined` for any other answer. */
  cmeError(command: string): number | undefined {
    const code = /^\+CME ERROR: ?(\d+)$/.exec(this.#answers.get(command)?.final ?? '')?.[1];
    return code === undefined ? undefined : Number(code);
  }
}
