// Why an operator's request came to nothing; the code decides how the tool ends.

/** Exit codes of the tools by what happened; 0 is done. */
export const EXIT_CODES = {
  /** The modem or the network says no, or what was asked for cannot be. */
  refused: 1,
  /** The slot cannot do it now: no modem, no SIM, no network. */
  unavailable: 2,
  /** No answer in time: nobody knows what became of it. */
  unanswered: 3,
  /** The daemon cannot be asked, and the modems cannot be had without it. */
  unreachable: 4,
} as const;

export type DeskTrouble = keyof typeof EXIT_CODES;

export const isDeskTrouble = (word: unknown): word is DeskTrouble =>
  typeof word === 'string' && Object.hasOwn(EXIT_CODES, word);

/** The message is for the operator. */
export class DeskError extends Error {
  override name = 'DeskError';
  readonly trouble: DeskTrouble;
  readonly exitCode: number;

  constructor(trouble: DeskTrouble, message: string, cause?: unknown) {
    super(message, { cause });
    this.trouble = trouble;
    this.exitCode = EXIT_CODES[trouble];
  }
}
