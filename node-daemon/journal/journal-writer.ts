// Writes appended records to the disk: at once, in order, and durably in groups.
//
//   staged ──write()──► written ──fdatasync──► durable
//   A kill loses staged records. A power cut loses records that are not durable. A disk error may lose written records.
import type { Clock, Timer } from '#shared/clock.ts';
import type { JournalFile } from './journal-file.ts';

/** Lazy writes are durable after this time, so that more of them share a sync. */
export const LAZY_SYNC_MS = 5;

/** An entry to write. Functions of entries are called in the order of the entries. */
interface WriterEntry {
  /** Whether the entry may wait for `LAZY_SYNC_MS` before it is durable. */
  readonly isLazy: boolean;
  /** Called right before the entry is written. Returns its lines. If it throws, the entry is `refused` with the error. */
  encode(): string;
  onWritten(): void;
  onDurable(bytes: Uint8Array): void;
  /** Called if no part of the entry is in the file. */
  refused(error: unknown): void;
}

/** The parts that the writer needs, and the events that it reports to its owner. */
interface WriterParts {
  readonly file: JournalFile;
  readonly clock: Clock;
  /** Makes an unusable file usable again. Rejects if the disk refuses. */
  readonly restore: () => Promise<void>;
  /** Called after entries became durable, all at once. */
  readonly onGroupDurable: () => void;
  /** Called when the disk refused and `file` is back at its durable end. Returns the error for the refused entries. */
  readonly onFailure: (cause: unknown) => Error;
}

interface Written {
  readonly entry: WriterEntry;
  readonly bytes: Uint8Array;
}

/** The writer of one file. It writes and syncs at the same time. */
export class JournalWriter {
  readonly #parts: WriterParts;
  readonly #staged: WriterEntry[] = [];
  #written: Written[] = [];
  #lazyTimer: Timer | undefined;
  #writing = false;
  #syncing = false;
  /** Whether written entries wait for a sync. */
  #syncDue = false;
  #failure: { readonly cause: unknown; readonly entries: WriterEntry[] } | undefined;
  /** Whether a task has exclusive use of the file, or waits for it. */
  #isLocked = false;
  #lastLock: Promise<void> = Promise.resolve();
  #idleWaiters: (() => void)[] = [];
  #steps = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Number of entries that are not written yet. */
  get stagedCount(): number {
    return this.#staged.length;
  }

  /** Grows with each finished write and sync, successful or not; undefined while there is nothing to do. */
  get steps(): number | undefined {
    const isIdle = !this.#writing && !this.#syncing && this.#failure === undefined;
    return isIdle && this.#staged.length === 0 ? undefined : this.#steps;
  }

  add(entry: WriterEntry): void {
    this.#staged.push(entry);
    this.#start();
  }

  /** Runs a task with exclusive use of the file, when all written entries are durable. Entries that come meanwhile are written later. */
  async exclusively(work: () => Promise<void>): Promise<void> {
    const before = this.#lastLock;
    let release: () => void = () => undefined;
    this.#lastLock = new Promise((resolve) => (release = resolve));
    await before;
    this.#isLocked = true;
    try {
      await this.#idle();
      await work();
    } finally {
      this.#isLocked = false;
      release();
      this.#start();
    }
  }

  /** Resolves when all added entries are durable or refused. */
  async drain(): Promise<void> {
    do {
      await this.#lastLock;
      await this.#idle();
    } while (this.#staged.length > 0);
  }

  async #idle(): Promise<void> {
    const isBusy = this.#writing || this.#syncing || this.#failure !== undefined;
    if (!isBusy && this.#written.length === 0) return;
    if (!isBusy) this.#sync();
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Returns whether writing may continue. */
  #start(): boolean {
    const isFree = !this.#writing && !this.#isLocked && this.#failure === undefined;
    if (isFree && this.#staged.length > 0) {
      this.#writing = true;
      void this.#writeAll();
    }
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    // One turn of the event loop lets records that were added together share one write, and lets modem tasks go first.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      if (!this.#parts.file.usable) await this.#parts.restore();
      while (this.#staged.length > 0 && this.#failure === undefined && !this.#isLocked)
        await this.#writeStaged();
    } catch (cause) {
      this.#refuse(cause, this.#staged.splice(0));
    }
    this.#writing = false;
    await this.#mendAndContinue();
  }

  async #writeStaged(): Promise<void> {
    const written = this.#staged.splice(0).flatMap((entry) => encoded(entry) ?? []);
    try {
      await this.#parts.file.write(Buffer.concat(written.map(({ bytes }) => bytes)));
    } catch (cause) {
      this.#fail(cause, written);
      return;
    } finally {
      this.#steps += 1;
    }
    this.#written.push(...written);
    for (const { entry } of written) entry.onWritten();
    if (written.every(({ entry }) => entry.isLazy)) {
      this.#lazyTimer ??= this.#parts.clock.after(LAZY_SYNC_MS, () => this.#sync());
    } else this.#sync();
  }

  #sync(): void {
    this.#lazyTimer?.cancel();
    this.#lazyTimer = undefined;
    if (this.#failure !== undefined) return;
    this.#syncDue = true;
    if (this.#syncing) return;
    this.#syncing = true;
    void this.#syncAll();
  }

  async #syncAll(): Promise<void> {
    while (this.#syncDue && this.#failure === undefined) {
      this.#syncDue = false;
      const group = this.#written;
      this.#written = [];
      try {
        await this.#parts.file.sync();
      } catch (cause) {
        this.#fail(cause, group);
        break;
      } finally {
        this.#steps += 1;
      }
      for (const { entry, bytes } of group) entry.onDurable(bytes);
      this.#parts.onGroupDurable();
    }
    this.#syncing = false;
    await this.#mendAndContinue();
  }

  #fail(cause: unknown, group: readonly Written[]): void {
    const entries = group.map(({ entry }) => entry);
    if (this.#failure === undefined) this.#failure = { cause, entries };
    else this.#failure.entries.push(...entries);
  }

  /** Called when no write and no sync runs. Repairs a failure, then continues with the records that came meanwhile. */
  async #mendAndContinue(): Promise<void> {
    if (this.#writing || this.#syncing) return;
    if (this.#failure !== undefined) {
      const { cause, entries } = this.#failure;
      entries.push(...this.#written.map(({ entry }) => entry));
      this.#written = [];
      this.#syncDue = false;
      await this.#parts.file.mend();
      this.#failure = undefined;
      this.#refuse(cause, entries);
    }
    if (this.#start() || this.#idleWaiters.length === 0) return;
    if (this.#written.length > 0) {
      this.#sync();
      return;
    }
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #refuse(cause: unknown, entries: readonly WriterEntry[]): void {
    const error = this.#parts.onFailure(cause);
    for (const entry of entries) entry.refused(error);
  }
}

/** Returns the lines of an entry; `undefined` if it was refused. */
function encoded(entry: WriterEntry): Written | undefined {
  try {
    return { entry, bytes: Buffer.from(entry.encode()) };
  } catch (error) {
    entry.refused(error);
    return undefined;
  }
}

/** Makes a promise that may be rejected without a handler. */
export function deferred(): {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
} {
  let handlers: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<void>((resolve, reject) => (handlers = { resolve, reject }));
  promise.catch(() => undefined);
  return { promise, resolve: () => handlers?.resolve(), reject: (error) => handlers?.reject(error) };
}
