// PGlite behind the interface of a `pg` pool, so that one Kysely dialect serves both. Callers take turns with its one connection.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite, types } from '@electric-sql/pglite';
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { DatabaseUnavailable } from '../../domain/refusal.ts';

/** Callers that may wait for the connection. If there are more, the embedded database is too small for the service. */
const WAITERS_MAX = 10_000;

/** Made by `npm run build`. Without it, as in development, Postgres sets the database up, which takes longer. */
const EMPTY_DATABASE = fileURLToPath(new URL('../../../dist/empty-database.tar.gz', import.meta.url));

/** ENOSPC in the file system of WebAssembly. */
const NO_SPACE = 51;

/** Opens or creates the database in `folder`, which must exist. The caller ensures that no other process has it open. */
export async function openPglitePool(folder: string): Promise<PostgresPool> {
  if (readdirSync(folder).length === 0) await make(folder);
  const pglite = await open(folder);
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
      if (waiters.length >= WAITERS_MAX)
        throw new DatabaseUnavailable(new Error('too many requests wait for the embedded database'));
      return new Promise((resolve) => waiters.push(resolve));
    },
    end: () => pglite.close(),
  };
}

/** Creates the database next to its final place, then renames it. A half-made one (process killed, disk full) could not be opened. */
async function make(folder: string): Promise<void> {
  const beside = `${resolve(folder)}.new`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { mode: 0o700 });
  try {
    const empty = existsSync(EMPTY_DATABASE) ? new Blob([readFileSync(EMPTY_DATABASE)]) : undefined;
    const pglite = await open(beside, empty);
    await pglite.close();
    renameSync(beside, folder);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    throw error;
  }
}

/** `initial`: an archive of the database that it is to begin with, in an empty folder. */
async function open(folder: string, initial?: Blob): Promise<PGlite> {
  try {
    const loaded = initial && { loadDataDir: initial };
    return await PGlite.create(folder, { parsers: { [types.INT8]: Number }, ...loaded });
  } catch (cause) {
    const { errno, message } = cause as { errno?: unknown; message?: unknown };
    const why = errno === NO_SPACE ? 'the disk is full' : (message ?? `error ${String(errno)}`);
    throw new Error(`the embedded database in ${folder} cannot be opened: ${String(why)}`, { cause });
  }
}

function commandOf(text: string): PostgresQueryResult<unknown>['command'] {
  const word = /^\s*(insert|update|delete|merge)\b/i.exec(text)?.[1];
  return (word?.toUpperCase() ?? 'SELECT') as PostgresQueryResult<unknown>['command'];
}
