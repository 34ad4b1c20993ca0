// Tells a Postgres that is away from one that refuses a statement: away means started anew, failed over, full or too slow.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { DatabaseUnavailable } from '../../domain/database-unavailable.ts';

/** Classes of SQLSTATE: connection exceptions, and resources that ran out, connections among them. */
const CLASSES: ReadonlySet<string> = new Set(['08', '53']);

const STATES: ReadonlySet<string> = new Set([
  // Shut down by an operator, by a crash, not started yet, dropped, ended while idle.
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  // A statement, a lock or a transaction that took too long.
  '57014',
  '55P03',
  '25P03',
  '25P04',
  // Read only: a standby, or a primary that is one no more.
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

/** What `pg` says of a connection that has ended or hangs has no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded|Client (has encountered a connection error|was closed))/;

/** Whether an error of a statement says only that the database does not answer now. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return DRIVER_MESSAGES.test(error.message);
  return STATES.has(code) || SYSTEM_ERRORS.has(code) || (code.length === 5 && CLASSES.has(code.slice(0, 2)));
}

/**
 * The same pool, which throws `DatabaseUnavailable` where the database is away. `onNoConnection` is called where no
 * connection was to be had.
 */
export const watched = (pool: Pool, onNoConnection: () => void): PostgresPool => ({
  end: () => pool.end(),
  connect: () =>
    pool.connect().then(watchedClient, (error: unknown) => {
      onNoConnection();
      // Whatever is the reason, a wrong password too: there is none now.
      throw new DatabaseUnavailable(error);
    }),
});

/** After the first such error it takes no more statements: a server that hangs would hold up each as long as the first. */
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
    // The pool would give a connection that hangs, or one to a standby, to the next request.
    release: () => client.release(failure !== undefined),
  };
}
