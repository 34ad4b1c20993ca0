// Writes a snapshot of a database as a backup.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Clock, withDeadline } from '#shared/clock.ts';
import type { Database } from '../store/database/database.ts';
import { headerOf, trailerOf } from './backup-format.ts';
import { dumpDatabase } from './database-dump.ts';

/** Limit for a stalled reader. A backup occupies a snapshot of the database, or the only connection of the embedded one. */
const STALL_MS = 10_000;

/** Writes the present contents of the database to `out`, and ends it. If it rejects, the output is worthless. */
export async function writeBackup(db: Database, out: Writable, clock: Clock): Promise<void> {
  const gzip = createGzip();
  const written = pipeline(gzip, out);
  // A failure is reported where `written` is awaited; until then it must not end the process.
  written.catch(() => undefined);
  const digest = createHash('sha256');
  const write = async (text: string): Promise<void> => {
    digest.update(text);
    if (gzip.write(text)) return;
    const drained = (signal: AbortSignal): Promise<unknown> => once(gzip, 'drain', { signal });
    await Promise.race([withDeadline(clock, STALL_MS, drained), written]);
  };
  try {
    await dumpDatabase(db, {
      begin: (contents) => write(`${JSON.stringify(headerOf(contents, new Date(clock.now())))}\n`),
      rows: (rows) => write(`${rows.join('\n')}\n`),
      endTable: () => write('\n'),
    });
  } catch (error) {
    gzip.destroy();
    const isStalled = error instanceof Error && error.name === 'AbortError';
    throw isStalled ? new Error(`the reader of the output stalled for ${STALL_MS / 1000} s`) : error;
  }
  gzip.end(`${trailerOf(digest.digest('hex'))}\n`);
  await written;
}
