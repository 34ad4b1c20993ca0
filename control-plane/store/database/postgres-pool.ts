// Connections to the primary Postgres. Those that fail, or that lead to a former primary, are not used again.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { type ClientBase, Pool, type PoolClient, types } from 'pg';
import { DatabaseUnavailable } from '../../domain/refusal.ts';
import type { DatabaseConnections } from '../../metrics/database-metrics.ts';
import { isBusy, isUnavailable } from './availability.ts';
import { Primary } from './primary.ts';

const INT8_OID = 20;
const CONNECT_TIMEOUT_MS = 5_000;

/** The service has no slow statements. One that hangs must not keep its connection. */
const STATEMENT_TIMEOUT_MS = 15_000;

/** A server that is gone does not report a timeout; the client needs its own. */
const ANSWER_TIMEOUT_MS = 20_000;

/** The function of Postgres that reports a commit as done although no standby has it, because its wait was canceled. */
const STANDBY_WAIT = 'SyncRepWaitForLSN';

/** A pooler has no sessions whose parameters a client could set. */
const PARAMETER_REFUSED = /^unsupported startup parameter/;

interface WatchedPool {
  /** Throws `DatabaseUnavailable` when the database is unavailable. */
  pool: PostgresPool;
  connections(): DatabaseConnections;
}

interface PoolOptions {
  /** May name several servers. */
  url: string;
  connectionsMax: number;
  /** Statements may take as long as they need. */
  isPatient?: boolean;
}

/** Calls `onNoConnection` when it could not get a connection. */
export function openPostgresPool(options: PoolOptions, onNoConnection: () => void): WatchedPool {
  const connections = new PrimaryConnections(options);
  return {
    connections: () => connections.counts(),
    pool: {
      end: () => connections.end(),
      connect: () =>
        connections.take().then(
          (client) => watchedClient(client, (error) => connections.suspect(error)),
          (error: unknown) => {
            onNoConnection();
            // Any reason counts, a wrong password too: there is no connection.
            throw new DatabaseUnavailable(error);
          },
        ),
    },
  };
}

/** A pool whose connections lead to the present primary. */
class PrimaryConnections {
  readonly #primary: Primary;
  readonly #pool: Pool;
  /** `changes` of the primary when the connection was made. */
  readonly #madeAt = new WeakMap<ClientBase, number>();

  constructor({ url, connectionsMax: max, isPatient = false }: PoolOptions) {
    const primary = new Primary(url);
    this.#primary = primary;
    this.#pool = new Pool({
      max,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...(isPatient ? {} : { statement_timeout: STATEMENT_TIMEOUT_MS, query_timeout: ANSWER_TIMEOUT_MS }),
      idle_in_transaction_session_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'simrack-control-plane',
      types: {
        // The bigints are counters: they fit a number.
        getTypeParser: ((oid: number, format: 'text') =>
          oid === INT8_OID ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
      },
      // The pool waits for its promise, which its types do not say.
      onConnect: ((client) =>
        primary.check(client).then(() => {
          this.#madeAt.set(client, primary.changes);
        })) as (client: ClientBase) => void,
    });
    // The pool replaces an idle connection that breaks. A user of a broken connection gets an error from its next statement. Without a
    // listener the event would end the process.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  counts(): DatabaseConnections {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async take(): Promise<PoolClient> {
    this.#pool.options.connectionString = await this.#primary.find();
    for (;;) {
      const client = await this.#connect();
      if (this.#madeAt.get(client) === this.#primary.changes) return client;
      client.release(true);
    }
  }

  /** `error`: of a connection. */
  suspect(error: unknown): void {
    if (!isBusy(error)) this.#primary.suspect();
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      if (!(error instanceof Error && PARAMETER_REFUSED.test(error.message))) {
        this.suspect(error);
        throw error;
      }
      delete this.#pool.options.statement_timeout;
      delete this.#pool.options.idle_in_transaction_session_timeout;
      return this.#pool.connect();
    }
  }
}

/** After the first such error the client rejects every statement. Otherwise each would wait for the timeout of a server that hangs. */
function watchedClient(client: PoolClient, onFailure: (error: unknown) => void): PostgresPoolClient {
  let failure: DatabaseUnavailable | undefined;
  const fail = (error: unknown): DatabaseUnavailable => {
    failure = new DatabaseUnavailable(error);
    onFailure(error);
    return failure;
  };
  const onNotice = (notice: { routine?: string | undefined }): void => {
    if (notice.routine === STANDBY_WAIT) fail(new Error('the commit did not reach the standby'));
  };
  client.on('notice', onNotice);
  const query = async (text: string, parameters: unknown[]): Promise<unknown> => {
    if (failure !== undefined) throw failure;
    const asked = client.query(text, parameters).catch((error: unknown) => {
      throw failure ?? (isUnavailable(error) ? fail(error) : (error as Error));
    });
    return asked.then((result) => {
      if (failure !== undefined) throw failure;
      return result;
    });
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release() {
      client.off('notice', onNotice);
      // Destroys the connection: the pool would give one that hangs, or one to a standby, to the next request.
      client.release(failure !== undefined);
    },
  };
}
