// PGlite behind the interface of a `pg` pool, so that one Kysely dialect serves both. Callers take turns with its one connection.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writevSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deserialize } from 'node:v8';
import { PGlite, types } from '@electric-sql/pglite';
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { DatabaseUnavailable } from '../../domain/refusal.ts';

/** Callers that may wait for the connection. If there are more, the embedded database is too small for the service. */
const WAITERS_MAX = 10_000;

/** With all tables, made by `npm run build`. Without it, as in development, Postgres sets the database up, which takes longer. */
const EMPTY_DATABASE = fileURLToPath(new URL('../../../dist/empty-database.parts', import.meta.url));

/** ENOSPC in the file system of WebAssembly. */
const NO_SPACE = 51;

/**
 * Opens or creates the database in `folder`, which must exist. `mayHaveTables`: a new one may begin with the newest schema. The caller ensures
 * that no other process has it open.
 */
export async function openPglitePool(
  folder: string,
  { mayHaveTables = false }: { mayHaveTables?: boolean },
): Promise<PostgresPool> {
  if (readdirSync(folder).length === 0) await make(folder, mayHaveTables);
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
async function make(folder: string, mayHaveTables: boolean): Promise<void> {
  const beside = `${resolve(folder)}.new`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { mode: 0o700 });
  try {
    const isCopy = existsSync(EMPTY_DATABASE);
    if (isCopy) copyEmpty(beside);
    if (!isCopy || !mayHaveTables) {
      const pglite = await PGlite.create(beside);
      if (isCopy) await pglite.exec('drop schema public cascade; create schema public');
      await pglite.close();
    }
    renameSync(beside, folder);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    throw unusable(folder, error);
  }
}

function copyEmpty(folder: string): void {
  // By path; null for a folder, which comes before what is in it.
  const parts: Map<string, { bytes: Buffer; zeros: number } | null> = deserialize(
    readFileSync(EMPTY_DATABASE),
  );
  for (const [path, file] of parts)
    if (file === null) mkdirSync(join(folder, path), { mode: 0o700 });
    else write(join(folder, path), file);
}

/** Zeros are written: Postgres does not expect a full disk where a file has room. */
function write(path: string, { bytes, zeros }: { bytes: Buffer; zeros: number }): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    const written = writevSync(file, [bytes, Buffer.alloc(zeros)]);
    if (written < bytes.length + zeros) throw Object.assign(new Error('short write'), { code: 'ENOSPC' });
  } finally {
    closeSync(file);
  }
}

/** At its start Postgres clears its buffers: with the default of 128 MB, that takes half a second and the memory. */
const START = [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'];

/** The values of `pg`. */
const PARSERS = {
  [types.INT8]: Number,
  // Written as `\x00ff`. The parser of PGlite returns an array without the methods of a Buffer.
  [types.BYTEA]: (text: string) => Buffer.from(text.slice(2), 'hex'),
};

const open = (folder: string): Promise<PGlite> =>
  PGlite.create(folder, { parsers: PARSERS, startParams: START }).catch((error: unknown) => {
    throw unusable(folder, error);
  });

function unusable(folder: string, cause: unknown): Error {
  const { code, errno, message } = cause as { code?: unknown; errno?: unknown; message?: unknown };
  const isFull = errno === NO_SPACE || code === 'ENOSPC';
  const why = isFull ? 'the disk is full' : (message ?? `error ${String(errno)}`);
  return new Error(`the embedded database in ${folder} cannot be opened: ${String(why)}`, { cause });
}

function commandOf(text: string): PostgresQueryResult<unknown>['command'] {
  const word = /^\s*(insert|update|delete|merge)\b/i.exec(text)?.[1];
  return (word?.toUpperCase() ?? 'SELECT') as PostgresQueryResult<unknown>['command'];
}
