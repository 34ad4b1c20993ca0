// Distinguishes a Postgres that is unavailable from one that rejects a statement. Unavailable: it restarts, fails over, is full or is too
// slow.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { DatabaseUnavailable } from '../../domain/refusal.ts';

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

/**
 * The same pool, but it throws `DatabaseUnavailable` when the database is unavailable. Calls `onNoConnection` when it could not get a
 * connection.
 */
export const watched = (pool: Pool, onNoConnection: () => void): PostgresPool => ({
  end: () => pool.end(),
  connect: () =>
    pool.connect().then(watchedClient, (error: unknown) => {
      onNoConnection();
      // Any reason counts, a wrong password too: there is no connection.
      throw new DatabaseUnavailable(error);
    }),
});

/** After the first such error the client rejects every statement. Otherwise each would wait for the timeout of a server that hangs. */
function watchedClient(client: PoolClient): PostgresPoolClient {
  let failure: DatabaseUnavailable | undefined;
  const query = (text: string, parameters: unknown[]): Promise<unknown> => {
    if (failure !== undefined) return Promise.reject(failure);
    return client.query(text, parameters).catch((error: unknown) => {
      if (isUnavailable(error)) failure = new DatabaseUnavailable(error);
      throw failure ?? error;
    });
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    // Destroys the connection: the pool would give one that hangs, or one to a standby, to the next request.
    release: () => client.release(failure !== undefined),
  };
}
