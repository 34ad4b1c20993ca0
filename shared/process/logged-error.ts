// An error in a form that is safe to log: its kind and its origin, without the values that caused it.

/** Depth of causes in the log. */
const CAUSES_MAX = 5;

const SQLSTATE = /^[0-9A-Z]{5}$/;

interface LoggedError {
  type: string;
  message: string;
  /** Error code of Node or Postgres. */
  code?: string;
  /** Postgres constraint that was violated, without the value. */
  constraint?: string;
  stack?: string;
  cause?: LoggedError;
  errors?: LoggedError[];
}

/**
 * Keeps only the fields above. Libraries attach statements with parameters, rows, requests and signed
 * transactions to errors.
 */
export function loggedError(error: unknown, depth = 1): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { code, constraint, cause, errors } = error as Error & Record<string, unknown>;
  const logged: LoggedError = { type: error.name, message: safeMessageOf(error) };
  if (typeof code === 'string' || typeof code === 'number') logged.code = String(code);
  if (typeof constraint === 'string') logged.constraint = constraint;
  const stack = framesOf(error);
  if (stack !== '') logged.stack = stack;
  if (depth >= CAUSES_MAX) return logged;
  if (cause instanceof Error) logged.cause = loggedError(cause, depth + 1);
  if (Array.isArray(errors))
    logged.errors = errors.slice(0, CAUSES_MAX).map((each) => loggedError(each, depth + 1));
  return logged;
}

function safeMessageOf(error: Error): string {
  // Its message quotes its input.
  if (error instanceof SyntaxError && /JSON/.test(error.message)) return 'not JSON';
  const { code, severity, shortMessage } = error as Error & Record<string, unknown>;
  // viem: the long message has the request with its arguments.
  if (typeof shortMessage === 'string') return shortMessage;
  // PostgreSQL, appendix A: class 22 is about values, and quotes them after a colon.
  const isOfValue = typeof code === 'string' && SQLSTATE.test(code) && code.startsWith('22');
  return severity !== undefined && isOfValue ? error.message.replace(/:.*$/s, '') : error.message;
}

/** The stack begins with the message, which may have several lines. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .join('\n');
}
