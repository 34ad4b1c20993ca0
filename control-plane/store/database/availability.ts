// Distinguishes a Postgres that is unavailable from one that rejects a statement. Unavailable: it restarts, fails over, is full or is too
// slow.

/** SQLSTATE classes: connection exceptions, and insufficient resources (connections among them). */
const CLASSES: ReadonlySet<string> = new Set(['08', '53']);

const STATES: ReadonlySet<string> = new Set([
  // Shut down by an operator or by a crash, not started yet, dropped, ended while idle.
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  // A statement, a lock or a transaction took too long.
  '57014',
  '55P03',
  '25P03',
  '25P04',
  // Read only: a standby, or a former primary.
  '25006',
]);

const SYSTEM_ERRORS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Errors of `pg` about a connection that ended or hangs have no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded|Client (has encountered a connection error|was closed))/;

/** Whether an error of a statement means only that the database does not answer now. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return DRIVER_MESSAGES.test(error.message);
  return STATES.has(code) || SYSTEM_ERRORS.has(code) || (code.length === 5 && CLASSES.has(code.slice(0, 2)));
}

const BUSY_STATES: ReadonlySet<string> = new Set(['57014', '55P03']);

/** Whether an error means that the server is there, and has too much to do or no connection left: no reason to search for another. */
export function isBusy(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return /^timeout exceeded when trying to connect/.test(String(message));
  return BUSY_STATES.has(code) || (code.length === 5 && code.startsWith('53'));
}
