// Reads a backup, and trusts it only when all of it was read.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BackupError, type BackupHeader, checkTrailer, readHeader } from './backup-format.ts';
import { type BackupKey, openedBytes } from './encryption.ts';

/** Far longer than any row. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

const ROWS_A_BATCH = 500;
const BATCH_BYTES_MAX = 1024 * 1024;

/** Some rows of one table, each as the JSON text of an object. */
export interface RowBatch {
  table: string;
  rows: string[];
}

export interface VerifiedBackup {
  header: BackupHeader;
  /** Rows of all tables. */
  rows: number;
}

/**
 * Yields the header, then the rows. It completes only if the backup is complete and undamaged. Otherwise it throws `BackupError`; the rows
 * before that must be discarded. `key` opens an encrypted backup.
 */
export async function* readBackup(path: string, key?: BackupKey): AsyncGenerator<BackupHeader | RowBatch> {
  const file = createReadStream(path);
  const bytes = Readable.from(openedBytes(file, path, key), { objectMode: false });
  const gunzip = createGunzip();
  // The reader below gets the error.
  file.on('error', () => undefined);
  bytes.on('error', (error) => gunzip.destroy(error));
  try {
    yield* checkedRows(linesOf(bytes.pipe(gunzip)));
  } catch (error) {
    throw explained(error);
  } finally {
    gunzip.destroy();
    bytes.destroy();
    file.destroy();
  }
}

/** Reads all of the backup, and counts its rows. Throws `BackupError` unless it is complete. */
export async function verifyBackup(path: string, key?: BackupKey): Promise<VerifiedBackup> {
  let header: BackupHeader | undefined;
  let rows = 0;
  for await (const part of readBackup(path, key)) {
    if ('format' in part) header = part;
    else rows += part.rows.length;
  }
  if (header === undefined) throw new BackupError('it is empty');
  return { header, rows };
}

async function* checkedRows(lines: AsyncIterable<Buffer>): AsyncGenerator<BackupHeader | RowBatch> {
  const digest = createHash('sha256');
  const iterator = lines[Symbol.asyncIterator]();
  const next = async (): Promise<Buffer> => {
    const { value, done } = await iterator.next();
    if (done === true) throw new BackupError('it ends too early: it is incomplete');
    return value;
  };
  const take = async (): Promise<string> => {
    const line = await next();
    digest.update(line).update('\n');
    return line.toString();
  };
  const header = readHeader(await take());
  yield header;
  for (const { name: table } of header.tables) {
    let batch: RowBatch = { table, rows: [] };
    let bytes = 0;
    for (let row = await take(); row !== ''; row = await take()) {
      batch.rows.push(row);
      bytes += row.length;
      if (batch.rows.length < ROWS_A_BATCH && bytes < BATCH_BYTES_MAX) continue;
      yield batch;
      batch = { table, rows: [] };
      bytes = 0;
    }
    if (batch.rows.length > 0) yield batch;
  }
  checkTrailer((await next()).toString(), digest.digest('hex'));
  if ((await iterator.next()).done !== true)
    throw new BackupError('it is damaged: there is data after its end');
}

/** Lines without their ends. A last line without an end was cut off, and is left out. */
async function* linesOf(stream: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]);
      parts = [];
      bytes = 0;
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    parts.push(rest);
    bytes += rest.length;
    if (bytes > LINE_BYTES_MAX) throw new BackupError('it is damaged: a line is too long');
  }
}

function explained(error: unknown): unknown {
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  if (code === 'ENOENT') return new BackupError('the file does not exist');
  if (code === 'EISDIR') return new BackupError('it is a folder');
  if (code === 'EACCES') return new BackupError('you have no permission to read it');
  if (code === 'Z_BUF_ERROR') return new BackupError('it ends too early: it is incomplete');
  if (code === 'Z_DATA_ERROR')
    return new BackupError('the file is not a backup of Simrack, or it is damaged');
  return error;
}
