// The errors that a caller expects: a request or a command is refused, or the database cannot be reached.
import type { RefusalCode } from '#shared/api/refusals.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';

interface RefusalOptions {
  /** Extra keys of the error body. */
  details?: Record<string, unknown>;
  /** Extra headers of the answer. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** The message, with the value that was probably meant (`details.suggestion`) unless it has that already. */
function withSuggestion(message: string, suggestion: unknown): string {
  if (typeof suggestion !== 'string' || message.includes(suggestion)) return message;
  return `${message.replace(/\.$/, '')}. Did you mean ${suggestion}?`;
}

/** An expected rejection of a request, with a stable code. May be thrown anywhere below a handler; becomes `{error, message, …details}`. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly code: RefusalCode;
  readonly details: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(code: RefusalCode, message: string, options: RefusalOptions = {}) {
    super(withSuggestion(message, options.details?.['suggestion']), { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}

/** The present state does not allow the command. Nothing was changed. The message says why, one problem per line. */
export class OperatorRefusal extends OperatorError {
  override name = 'OperatorRefusal';

  constructor(message: string, options?: ErrorOptions) {
    super('unavailable', message, options?.cause);
  }
}

/** The command was begun but not finished. It may be repeated. The message says what is missing. */
export class OperatorUnfinished extends OperatorError {
  override name = 'OperatorUnfinished';

  constructor(message: string, options?: ErrorOptions) {
    super('unanswered', message, options?.cause);
  }
}

/**
 * The database cannot be reached now; the request itself is valid and may be repeated. The store throws it instead of the driver's error,
 * which is in `cause`. A statement that was under way may or may not have been executed.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';

  constructor(cause: unknown) {
    super('the database is not available', { cause });
  }
}
