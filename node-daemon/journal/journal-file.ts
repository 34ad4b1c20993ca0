// The file of the journal: records are written into spare room at its end, and compaction replaces the whole file.
import { rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '#shared/process/sync-folder.ts';
import { type JournalDisk, type OpenJournalDisk, openJournalDisk } from './journal-disk.ts';
import { encodeRecord, type JournalRecord } from './record.ts';

/** Compaction writes this much at a time, so that it never blocks the process for longer than about 1 ms. */
const CHUNK_BYTES = 64 * 1024;
/**
 * Size of the zeros after the records. Writes replace them, so that a sync does not change the size of the file. A change of size would
 * make every program that writes to the file system wait for the file system's journal.
 */
const ROOM_BYTES = 256 * 1024;
const DOUBT = Buffer.from(encodeRecord({ kind: 'doubt' }));

/** The file of one journal. It has one writer and one syncer, which may run at the same time. */
export class JournalFile {
  readonly #path: string;
  readonly #openDisk: OpenJournalDisk;
  #disk: JournalDisk | undefined;
  /** End of the written records. */
  #writtenBytes = 0;
  /** End of the durable records. */
  #durableBytes = 0;
  /** End of the file. */
  #roomEnd = 0;

  constructor(path: string, openDisk: OpenJournalDisk = openJournalDisk) {
    this.#path = path;
    this.#openDisk = openDisk;
  }

  /** Size of the records. */
  get bytes(): number {
    return this.#writtenBytes;
  }

  /** False if the end could not be repaired after a failed write, or the file lost its name. Then only `replace` helps. */
  get usable(): boolean {
    return this.#disk !== undefined;
  }

  /** Opens the file, keeps its first `goodBytes` bytes and drops the rest. */
  async open(goodBytes: number): Promise<void> {
    const disk = await this.#openDisk(this.#path);
    await disk.truncate(goodBytes);
    this.#adopt(disk, goodBytes);
  }

  /** Appends lines. After a rejection, call `mend`. */
  async write(lines: Uint8Array): Promise<void> {
    const disk = this.#opened();
    const mark = Buffer.from(encodeRecord({ kind: 'synced', bytes: this.#durableBytes }));
    const bytes = Buffer.concat([mark, lines]);
    await this.#makeRoom(disk, bytes.length);
    await disk.write(bytes, this.#writtenBytes);
    this.#writtenBytes += bytes.length;
    this.#roomEnd = Math.max(this.#roomEnd, this.#writtenBytes);
  }

  /** Makes earlier writes durable. After a rejection, call `mend`. */
  async sync(): Promise<void> {
    const bytes = this.#writtenBytes;
    const disk = this.#opened();
    // The check runs during the sync: if the file loses its name later, the next sync finds out.
    const hasName = disk.isAt(this.#path);
    await disk.sync();
    if (!(await hasName)) throw this.#lostName();
    this.#durableBytes = bytes;
  }

  /** Resolves with whether the file is usable and still has its name. */
  async isInPlace(): Promise<boolean> {
    return this.#disk !== undefined && (await this.#disk.isAt(this.#path));
  }

  /**
   * Repairs the end after a failure, when the page cache may differ from the disk. Goes back to the durable records, or sets `usable` to
   * false. Never rejects. No other operation may run. Writes a `doubt` record, which shows later readers of the file that records were
   * taken back.
   */
  async mend(): Promise<void> {
    const disk = this.#disk;
    this.#disk = undefined;
    if (disk === undefined) return;
    try {
      await this.#mustHaveName(disk);
      const mark = this.#writtenBytes > this.#durableBytes ? DOUBT : Buffer.alloc(0);
      // The zero damages the line at that place, so that after a kill the data behind the mark does not count.
      if (mark.length > 0) await disk.write(Buffer.concat([mark, Buffer.alloc(1)]), this.#durableBytes);
      const end = this.#durableBytes + mark.length;
      await disk.truncate(end);
      this.#adopt(disk, end);
    } catch {
      await disk.close().catch(() => undefined);
    }
  }

  /**
   * Writes a new file, which `replace` can put in place of this one. Writes to the old file may go on. There may be one
   * new file for each `suffix`. Rejects if the disk refuses.
   */
  async writeNew(suffix: string, records: Iterable<JournalRecord>): Promise<NewJournalFile> {
    const path = `${this.#path}.${suffix}`;
    const disk = await this.#openDisk(path);
    try {
      await disk.truncate(0);
      let bytes = 0;
      for (const chunk of chunksOf(records)) {
        await disk.write(chunk, bytes);
        bytes += chunk.length;
      }
      return { path, disk, bytes };
    } catch (error) {
      await this.discard({ path, disk });
      throw error;
    }
  }

  /**
   * Appends `tail` to a new file and puts it in place of this one, atomically: a crash leaves the old or the new file.
   * No other operation may run.
   */
  async replace({ path, disk, bytes }: NewJournalFile, tail: readonly Uint8Array[] = []): Promise<void> {
    let size = bytes;
    try {
      for (const lines of tail) {
        await disk.write(lines, size);
        size += lines.length;
      }
      await disk.sync();
      await rename(path, this.#path);
      // From here on the old file has no name and must not be written.
      await this.#leave();
      await syncFolder(dirname(this.#path));
    } catch (error) {
      await this.discard({ path, disk });
      throw error;
    }
    this.#adopt(disk, size);
  }

  /** Deletes a new file to free its space, because the disk may be full. Never rejects. */
  async discard({ path, disk }: Pick<NewJournalFile, 'path' | 'disk'>): Promise<void> {
    await disk.close().catch(() => undefined);
    // If it has become the journal, this name no longer exists.
    await unlink(path).catch(() => undefined);
  }

  /** Removes the spare room after the records, and closes the file. */
  async close(): Promise<void> {
    await this.#disk?.truncate(this.#writtenBytes).catch(() => undefined);
    await this.#leave();
  }

  async #mustHaveName(disk: JournalDisk): Promise<void> {
    if (!(await disk.isAt(this.#path))) throw this.#lostName();
  }

  #lostName(): Error {
    return new Error(`${this.#path} was deleted or replaced by another program`);
  }

  async #leave(): Promise<void> {
    const disk = this.#disk;
    this.#disk = undefined;
    await disk?.close().catch(() => undefined);
  }

  #opened(): JournalDisk {
    if (this.#disk === undefined) throw new Error('the journal file is not usable');
    return this.#disk;
  }

  #adopt(disk: JournalDisk, bytes: number): void {
    this.#disk = disk;
    this.#writtenBytes = bytes;
    this.#durableBytes = bytes;
    this.#roomEnd = bytes;
  }

  async #makeRoom(disk: JournalDisk, bytes: number): Promise<void> {
    if (this.#writtenBytes + bytes <= this.#roomEnd) return;
    try {
      await disk.write(Buffer.alloc(ROOM_BYTES), this.#roomEnd);
      this.#roomEnd += ROOM_BYTES;
    } catch {
      // A nearly full disk may still have room for the records.
    }
  }
}

/** A file that will become the journal. */
interface NewJournalFile {
  readonly path: string;
  readonly disk: JournalDisk;
  /** Size of its records. */
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
