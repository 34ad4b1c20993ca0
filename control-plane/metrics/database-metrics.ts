// Metrics of the database: connections, duration and errors of statements.
import type { Instruments } from '#shared/process/instruments.ts';
import type { Listeners } from './metric-events.ts';

const QUERY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 5, 15];

export interface DatabaseConnections {
  busy: number;
  idle: number;
  /** Callers that wait for a connection. */
  waiting: number;
}

/** `connections`: returns undefined for a database without connections. */
export function databaseMetrics(
  make: Instruments,
  connections: () => DatabaseConnections | undefined,
): Listeners {
  make.view('database_connections', 'Connections to Postgres: busy, idle', ['state'], (gauge) => {
    const now = connections();
    if (now === undefined) return;
    gauge.set({ state: 'busy' }, now.busy);
    gauge.set({ state: 'idle' }, now.idle);
  });
  make.view(
    'database_connection_waits',
    'Statements that wait for a connection; if it stays above 0, raise the number of connections',
    [],
    (gauge) => {
      const now = connections();
      if (now !== undefined) gauge.set(now.waiting);
    },
  );
  const durations = make.histogram('database_query_duration', 'Duration of SQL statements', QUERY_BUCKETS);
  const errors = make.counter(
    'database_errors',
    'Failed SQL statements, by the first two characters of SQLSTATE, or connection',
    ['class'],
  );
  return {
    queried: ({ seconds }) => durations.observe(seconds),
    query_failed: ({ errorClass }) => errors.inc({ class: errorClass }),
  };
}
