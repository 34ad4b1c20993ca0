// PGlite behind the interface of a `pg` pool, so that one Kysely dialect serves both. One connection, used in turns.
import { PGlite, types } from '@electric-sql/pglite';
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';

/** Callers that may wait for the one connection; more means that the embedded database is the wrong choice. */
const WAITERS_MAX = 10_000;

/** Opens (or makes) the database in `folder`. The caller makes sure that no other process has it open. */
export async function openPglitePool(folder: string): Promise<PostgresPool> {
  const pglite = await PGlite.create(folder, { parsers: { [types.INT8]: Number } });
  const waiters: Array<(client: PostgresPoolClient) => void> = [];
  let busy = false;

  const client: PostgresPoolClient = {
    query: (async (text: string, parameters: readonly unknown[]) => {
      const result = await pglite.query(text, [...parameters]);
      return {
        command: commandOf(text),
        rowCount: result.affectedRows ?? result.rows.length,
        rows: result.rows,
      };
    }) as PostgresPoolClient['query'],
    release() {
      const next = waiters.shift();
      if (next === undefined) busy = false;
      else next(client);
    },
  };

  return {
    async connect() {
      if (!busy) {
        busy = true;
        return client;
      }
      if (waiters.length >= WAITERS_MAX) throw new Error('too many requests wait for the embedded database');
      return new Promise((resolve) => waiters.push(resolve));
    },
    end: () => pglite.close(),
  };
}

function commandOf(text: string): PostgresQueryResult<unknown>['command'] {
  const word = /^\s*(insert|update|delete|merge)\b/i.exec(text)?.[1];
  return (word?.toUpperCase() ?? 'SELECT') as PostgresQueryResult<unknown>['command'];
}
