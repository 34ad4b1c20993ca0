// The journal's file: read and mended at start, appended to with fdatasync, rewritten as a whole.
import { createHash } from 'node:crypto';
import { fdatasync, write } from 'node:fs';
import { link, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { decodeRecord, encodeRecord, type JournalRecord } from './record.ts';

/** A file that is written at its end. What tests replace to play a full or broken disk, or a power cut. */
export interface AppendFile {
  /** Writes at the end: a kill cannot take it back, a power cut can. After a rejection anything may be there. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes all that was written before durable (fdatasync). May be called while a write is under way. */
  sync(): Promise<void>;
  /** Cuts the file and makes that durable. */
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens for appending; makes the file when it is not there. */
export type OpenAppendFile = (path: string) => Promise<AppendFile>;

/** What a file held when it was read. */
export interface JournalContents {
  /** Every record that can be read, in order. */
  readonly records: readonly JournalRecord[];
  /** Bytes of the good records before the first damage: what to keep after a torn write. */
  readonly goodBytes: number;
  /**
   * `torn`: the end of the last write is missing, which a kill may do to any write that nobody was told of.
   * `corrupt`: there is damage before good records. A kill cannot do that, a power cut can: the disk may
   * keep later pages of the last write and lose earlier ones. So may a disk that breaks.
   */
  readonly damage: 'none' | 'torn' | 'corrupt';
}

/** Reads a journal's file; a missing one has no records. */
export async function readJournal(path: string): Promise<JournalContents> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  return parseJournal(bytes);
}

/** The contents of a journal's bytes. */
export function parseJournal(bytes: Buffer): JournalContents {
  const records: JournalRecord[] = [];
  let goodBytes = 0;
  let damage: JournalContents['damage'] = 'none';
  for (let start = 0; start < bytes.length; ) {
    const lineEnd = bytes.indexOf(0x0a, start);
    const end = lineEnd < 0 ? bytes.length : lineEnd;
    const record = lineEnd < 0 ? undefined : decodeRecord(bytes.toString('utf8', start, end));
    start = end + 1;
    if (record === undefined) {
      if (damage === 'none') damage = 'torn';
      continue;
    }
    records.push(record);
    if (damage === 'none') goodBytes = start;
    else damage = 'corrupt';
  }
  return { records, goodBytes, damage };
}

/**
 * Gives a damaged journal a second name in its folder, durably, and returns that path. The first name stays
 * until `rewrite` takes it: there is a journal at every instant. The name follows from the contents, so that
 * a start that is tried again and again leaves one file.
 */
export async function keepAside(path: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  const aside = join(dirname(path), `journal.corrupt-${digest.slice(0, 16)}.log`);
  await link(path, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await syncFolder(dirname(path));
  return aside;
}

/** Compaction writes this much at a time, so that it never holds up the process for longer than about 1 ms. */
const CHUNK_BYTES = 64 * 1024;

/** The file of one journal. One writer, and one who syncs, which may meet. */
export class JournalFile {
  readonly #path: string;
  readonly #openFile: OpenAppendFile;
  #file: AppendFile | undefined;
  #writtenBytes = 0;
  #durableBytes = 0;

  constructor(path: string, openFile: OpenAppendFile = openAppendFile) {
    this.#path = path;
    this.#openFile = openFile;
  }

  /** Size of the file. */
  get bytes(): number {
    return this.#writtenBytes;
  }

  /** False when a failed write left an end that could not be mended: only `replace` helps then. */
  get usable(): boolean {
    return this.#file !== undefined;
  }

  /** Opens the file with its first `goodBytes` bytes and drops the rest. */
  async open(goodBytes: number): Promise<void> {
    const file = await this.#openFile(this.#path);
    await file.truncate(goodBytes);
    this.#adopt(file, goodBytes);
  }

  /** Writes at the end. After a rejection, `mend`. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#file === undefined) throw new Error('the journal file is not usable');
    await this.#file.write(bytes);
    this.#writtenBytes += bytes.length;
  }

  /** Makes durable what was written before. After a rejection, `mend`. */
  async sync(): Promise<void> {
    const bytes = this.#writtenBytes;
    if (this.#file === undefined) throw new Error('the journal file is not usable');
    await this.#file.sync();
    this.#durableBytes = bytes;
  }

  /**
   * After a failure the page cache may differ from the disk: goes back to what is known to be there, or is
   * not `usable` any more. Never rejects. Nothing else is under way.
   */
  async mend(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    try {
      await file?.truncate(this.#durableBytes);
      if (file !== undefined) this.#adopt(file, this.#durableBytes);
    } catch {
      await file?.close().catch(() => undefined);
    }
  }

  /**
   * Writes a new file, which `replace` can make this one. The old one may be written meanwhile; of each
   * `suffix` there is one at a time. Rejects when the disk refuses.
   */
  async writeNew(suffix: string, records: Iterable<JournalRecord>): Promise<NewJournalFile> {
    const path = `${this.#path}.${suffix}`;
    const file = await this.#openFile(path);
    try {
      await file.truncate(0);
      let bytes = 0;
      for (const chunk of chunksOf(records)) {
        await file.write(chunk);
        bytes += chunk.length;
      }
      return { path, file, bytes };
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
  }

  /**
   * Makes a new file with `tail` at its end this one, atomically: a crash leaves the old or the new one.
   * Nothing else is under way.
   */
  async replace({ path, file, bytes }: NewJournalFile, tail: readonly Uint8Array[] = []): Promise<void> {
    let size = bytes;
    try {
      for (const chunk of tail) {
        await file.write(chunk);
        size += chunk.length;
      }
      await file.sync();
      await rename(path, this.#path);
      // From here on the old file has no name: nothing may be written to it.
      await this.close();
      await syncFolder(dirname(this.#path));
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    this.#adopt(file, size);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  #adopt(file: AppendFile, bytes: number): void {
    this.#file = file;
    this.#writtenBytes = bytes;
    this.#durableBytes = bytes;
  }
}

/** A file that is about to become the journal. */
export interface NewJournalFile {
  readonly path: string;
  readonly file: AppendFile;
  readonly bytes: number;
}

function* chunksOf(records: Iterable<JournalRecord>): Generator<Buffer> {
  let lines = '';
  for (const record of records) {
    lines += encodeRecord(record);
    if (lines.length < CHUNK_BYTES) continue;
    yield Buffer.from(lines);
    lines = '';
  }
  if (lines !== '') yield Buffer.from(lines);
}

/** The real file. The callback forms of write and sync cost half of what those of a file handle do. */
export const openAppendFile: OpenAppendFile = async (path) => {
  const handle = await open(path, 'a', 0o600);
  return {
    async write(bytes) {
      // The system may take a part, and say only the next time why not all.
      for (let rest = bytes; rest.length > 0; ) rest = rest.subarray(await writeSome(handle.fd, rest));
    },
    sync: () =>
      new Promise((resolve, reject) => {
        fdatasync(handle.fd, (error) => (error === null ? resolve() : reject(error)));
      }),
    async truncate(length) {
      await handle.truncate(length);
      await handle.sync();
    },
    close: () => handle.close(),
  };
};

function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

/** Makes renames and new names in a folder durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
