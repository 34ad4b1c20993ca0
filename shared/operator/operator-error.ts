// The reasons why a program does not do what an operator asks for. The reason decides the exit code of the command.

/** Exit codes of operators' commands; 0 is done. */
export const EXIT_CODES = {
  /** The request is impossible, or the modem or the network refuses it. */
  refused: 1,
  /** The present state does not allow it. Nothing was changed. */
  unavailable: 2,
  /** No answer in time, or the work goes on: the result is unknown. The same request may be repeated. */
  unanswered: 3,
  /** The program does not answer, and its data or modems cannot be opened without it. */
  unreachable: 4,
} as const;

export type OperatorErrorReason = keyof typeof EXIT_CODES;

export const isOperatorErrorReason = (word: unknown): word is OperatorErrorReason =>
  typeof word === 'string' && Object.hasOwn(EXIT_CODES, word);

/** The result of a failed change in an audit. `refused`: nothing was done. */
export const resultOf = (error: unknown): 'refused' | 'failed' =>
  error instanceof OperatorError && error.reason !== 'unanswered' ? 'refused' : 'failed';

/** The message is for the operator, one problem a line. */
export class OperatorError extends Error {
  override name = 'OperatorError';
  readonly reason: OperatorErrorReason;
  readonly exitCode: number;

  constructor(reason: OperatorErrorReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.exitCode = EXIT_CODES[reason];
  }
}
