// The journal's file: read and mended at start, appended to with fdatasync, rewritten as a whole.
import { createHash } from 'node:crypto';
import { link, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { decodeRecord, encodeRecord, type JournalRecord } from './record.ts';

/** A file that can be appended to durably. What tests replace to play a full or broken disk. */
export interface AppendFile {
  /** Writes at the end and makes it durable (fdatasync). After a rejection anything may be at the end. */
  append(bytes: Uint8Array): Promise<void>;
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

/** The file of one journal. One call at a time. */
export class JournalFile {
  readonly #path: string;
  readonly #openFile: OpenAppendFile;
  #file: AppendFile | undefined;
  #bytes = 0;

  constructor(path: string, openFile: OpenAppendFile = openAppendFile) {
    this.#path = path;
    this.#openFile = openFile;
  }

  /** Size of the file. */
  get bytes(): number {
    return this.#bytes;
  }

  /** False when a failed write left an end that could not be mended: only `rewrite` helps then. */
  get usable(): boolean {
    return this.#file !== undefined;
  }

  /** Opens the file with its first `goodBytes` bytes and drops the rest. */
  async open(goodBytes: number): Promise<void> {
    const file = await this.#openFile(this.#path);
    await file.truncate(goodBytes);
    this.#file = file;
    this.#bytes = goodBytes;
  }

  /** Appends records durably. After a rejection none of them is in the file, or `usable` is false. */
  async append(records: readonly JournalRecord[]): Promise<void> {
    if (this.#file === undefined) throw new Error('the journal file is not usable');
    const bytes = Buffer.from(records.map(encodeRecord).join(''));
    try {
      await this.#file.append(bytes);
    } catch (error) {
      await this.#mend();
      throw error;
    }
    this.#bytes += bytes.length;
  }

  /** Replaces the file's contents atomically: a crash leaves the old file or the new one. */
  async rewrite(records: readonly JournalRecord[]): Promise<void> {
    const path = `${this.#path}.new`;
    const bytes = Buffer.from(records.map(encodeRecord).join(''));
    const file = await this.#openFile(path);
    try {
      await file.truncate(0);
      await file.append(bytes);
      await rename(path, this.#path);
      // From here on the old file has no name: nothing may be appended to it.
      await this.close();
      await syncFolder(dirname(this.#path));
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    this.#file = file;
    this.#bytes = bytes.length;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  /** After a failed append the page cache may differ from the disk: go back to what is known to be there. */
  async #mend(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    try {
      await file?.truncate(this.#bytes);
      this.#file = file;
    } catch {
      await file?.close().catch(() => undefined);
    }
  }
}

/** The real file. */
export const openAppendFile: OpenAppendFile = async (path) => {
  const handle = await open(path, 'a', 0o600);
  return {
    async append(bytes) {
      await handle.appendFile(bytes);
      await handle.datasync();
    },
    async truncate(length) {
      await handle.truncate(length);
      await handle.sync();
    },
    close: () => handle.close(),
  };
};

/** Makes renames and new names in a folder durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
