// Why an operator's request came to nothing; the code decides how the tool ends.
import { EXIT_CODES } from '../system/exit-codes.ts';

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
