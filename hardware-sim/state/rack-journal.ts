// The state of the rack on disk: one JSON line for each change, written before the change takes effect.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { jsonOf } from '#shared/json.ts';
import type { Logger } from '#shared/log.ts';
import { applyRecord, emptyRackState, type RackState, recordsOf } from './rack-state.ts';
import { type RackRecord, recordsSchema } from './records.ts';

/** The journal is compacted when the file has grown by this much: some hundred thousand changes. */
const GROWTH_BYTES_MAX = 64 * 1024 * 1024;
/** Default number of messages from modems that are kept for `GET /sms`. */
export const KEEP_HEARD_DEFAULT = 10_000;
/** Bytes for one `write` while the journal is compacted. */
const CHUNK_BYTES = 1024 * 1024;

/** The change could not be written: nothing of it counts. */
export class JournalError extends Error {
  override name = 'JournalError';
}

/**
 * Survives kill -9 at any instruction. Each change is one `write` of one line, and a torn last line is a change
 * that did not take effect. It may not survive a power cut: there is no fsync for each change.
 */
export class RackJournal {
  readonly state: RackState;
  readonly #path: string;
  readonly #log: Logger;
  #file: number;
  #size: number;
  #sizeWhenCompact: number;

  private constructor(path: string, state: RackState, log: Logger) {
    this.state = state;
    this.#path = path;
    this.#log = log;
    this.#file = writeCompact(path, state);
    this.#size = fstatSync(this.#file).size;
    this.#sizeWhenCompact = this.#size;
  }

  /** Reads the journal and compacts it. The caller must have locked the folder. */
  static open(path: string, log: Logger, keepHeard = KEEP_HEARD_DEFAULT): RackJournal {
    const state = emptyRackState(keepHeard);
    if (existsSync(path)) readState(path, state, log);
    return new RackJournal(path, state, log);
  }

  /** Writes the records as one line, then applies them. Throws `JournalError`; nothing has changed then. */
  commit(records: readonly RackRecord[]): void {
    const line = Buffer.from(`${JSON.stringify(records)}\n`);
    try {
      writeFully(this.#file, line);
    } catch (cause) {
      this.#cutOffTornLine();
      throw new JournalError('cannot write the state of the rack', { cause });
    }
    this.#size += line.length;
    for (const record of records) applyRecord(this.state, record);
    // A large state is compacted less often, or compacting would be most of the work.
    if (this.#size - this.#sizeWhenCompact > Math.max(GROWTH_BYTES_MAX, this.#sizeWhenCompact)) {
      this.#compact();
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  /** A part of a line would spoil the next one. */
  #cutOffTornLine(): void {
    try {
      ftruncateSync(this.#file, this.#size);
    } catch (error) {
      this.#log.error({ err: error, path: this.#path }, 'cannot cut off a torn line of the rack state');
    }
  }

  /** A failure changes nothing: the old file goes on, and after as much growth we try again. */
  #compact(): void {
    const old = this.#file;
    try {
      this.#file = writeCompact(this.#path, this.state);
      closeSync(old);
      this.#size = fstatSync(this.#file).size;
    } catch (error) {
      this.#log.warn({ err: error, path: this.#path }, 'cannot compact the rack state');
    }
    this.#sizeWhenCompact = this.#size;
  }
}

/** Returns the new file, open for appending. Until the rename the old file is whole. */
function writeCompact(path: string, state: RackState): number {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  const file = openSync(temporary, 'ax', 0o600);
  try {
    let chunk = '';
    for (const record of recordsOf(state)) {
      chunk += `${JSON.stringify([record])}\n`;
      if (chunk.length < CHUNK_BYTES) continue;
      writeFully(file, Buffer.from(chunk));
      chunk = '';
    }
    writeFully(file, Buffer.from(chunk));
    fsyncSync(file);
    renameSync(temporary, path);
  } catch (cause) {
    closeSync(file);
    throw cause;
  }
  return file;
}

function writeFully(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}

function readState(path: string, state: RackState, log: Logger): void {
  let unreadable = 0;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    const records = recordsSchema.safeParse(jsonOf(line));
    if (records.success) for (const record of records.data) applyRecord(state, record);
    else unreadable += 1;
  }
  // One torn line at the end is what a kill leaves.
  if (unreadable > 0) log.warn({ path, lines: unreadable }, 'skipped unreadable lines of the rack state');
}
