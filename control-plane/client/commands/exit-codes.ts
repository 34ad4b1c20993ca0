// How the command line ends: codes that scripts switch on.
import { ApiError } from '../api-error.ts';
import { NotPayableError } from '../payments/offer.ts';

export const EXIT = {
  ok: 0,
  /** The service said no; also a payment that this client refused to make. */
  refused: 1,
  /** Wrong options, or a file that cannot be used. */
  usage: 2,
  /** No answer, or not in time; a wait that ended without a message. */
  noAnswer: 3,
  /** Nobody knows yet whether the payment has arrived: run it again, it does not pay again. */
  pending: 4,
} as const;

export const EXIT_HELP = `Exit codes: ${EXIT.ok} done; ${EXIT.refused} refused; ${EXIT.usage} wrong use; ${EXIT.noAnswer} no answer, or nothing in time;
${EXIT.pending} the payment is under way: run the same command again, it does not pay twice.`;

/** The message is for people; nothing is known to be wrong with the service. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof ApiError) {
    if (error.code === 'settlement_pending') return EXIT.pending;
    return error.isNoAnswer ? EXIT.noAnswer : EXIT.refused;
  }
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof NotPayableError ? EXIT.refused : EXIT.noAnswer;
}

/** As JSON, for `--json`. */
export function described(error: unknown): Record<string, unknown> {
  if (!(error instanceof ApiError)) {
    const code = error instanceof UsageError ? 'usage' : 'failed';
    return { error: error instanceof NotPayableError ? 'not_payable' : code, message: messageOf(error) };
  }
  const { status, code, message, details, retryAfterSeconds } = error;
  return {
    ...details,
    ...{ error: code, message, status },
    ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
  };
}

export function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.code !== error.message) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
