// What must survive on a node: appended durably in groups, numbered, acknowledged, compacted.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { JournalFile, keepAside, type OpenAppendFile, readJournal } from './journal-file.ts';
import {
  applyAcknowledgement,
  applyRecord,
  dropOldOutcomes,
  emptyState,
  type JournalState,
  type ReadonlyJournalState,
  renumber,
  snapshotOf,
} from './journal-state.ts';
import type { JournalRecord, NewRecord } from './record.ts';

const FILE_NAME = 'journal.log';
/** Days of a full rack without a control plane. Beyond it messages stay on the SIMs and in the network. */
export const FACTS_MAX = 50_000;
/** Records that wait for the disk; more means that the disk stands still. */
const PENDING_MAX = 10_000;
/** Rewriting less than this saves nothing worth a pause. */
export const COMPACT_BYTES_MIN = 1024 * 1024;
/** The file may grow to this multiple of its last compact size. */
const COMPACT_GROWTH = 4;
/** A lost acknowledgement costs only a repetition, so that it may wait for company. */
const ACKNOWLEDGEMENT_DELAY_MS = 1_000;

/** The journal takes nothing now: full, closed, or the disk refuses. `cause` says which. */
export class JournalUnavailableError extends Error {
  override name = 'JournalUnavailableError';
}

/** Where the journal lies and what it uses. */
export interface JournalOptions {
  /** Exists; nobody else writes there. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly openFile?: OpenAppendFile;
}

/** Records that the state decides; pure, and quick. */
export type Decision = (state: ReadonlyJournalState) => readonly NewRecord[];

interface Pending {
  readonly records: readonly NewRecord[] | Decision;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The durable memory of one node. */
export class Journal {
  readonly #file: JournalFile;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #state: JournalState;
  readonly #factHandlers = new Set<() => void>();
  readonly #pending: Pending[] = [];
  #flushing: Promise<void> | undefined;
  #acknowledgementDue = false;
  #acknowledgementTimer: Timer | undefined;
  #compactBytes = COMPACT_BYTES_MIN;
  #failing = false;
  #closed = false;

  private constructor(file: JournalFile, state: JournalState, { clock, log }: JournalOptions) {
    this.#file = file;
    this.#state = state;
    this.#clock = clock;
    this.#log = log;
  }

  /** Opens the journal of a folder, mending what a crash left. Throws when the disk refuses. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { folder, clock, log } = options;
    const path = join(folder, FILE_NAME);
    const contents = await readJournal(path);
    const state = emptyState(randomUUID());
    for (const record of contents.records) applyRecord(state, record);
    dropOldOutcomes(state, clock.now());
    const file = new JournalFile(path, options.openFile);
    const journal = new Journal(file, state, options);
    if (contents.damage === 'corrupt' || (contents.damage === 'torn' && contents.records.length === 0)) {
      const aside = await keepAside(path);
      // Sequences of lost records may have been used: a new identity cannot collide with them.
      renumber(state, randomUUID());
      log.error({ aside }, 'the journal is damaged: what can be read goes on, the file is kept aside');
      await journal.#rewrite();
    } else if (contents.records[0]?.kind === 'journal') {
      if (contents.damage === 'torn') log.warn({}, 'the journal ends in a torn write: cut off');
      await file.open(contents.goodBytes);
      journal.#compactBytes = Math.max(COMPACT_BYTES_MIN, contents.goodBytes);
    } else await journal.#rewrite();
    return journal;
  }

  /** What the durable records say. For reading; only `append` and `acknowledge` change it. */
  get state(): ReadonlyJournalState {
    return this.#state;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Called after facts became durable. */
  onFact(handler: () => void): void {
    this.#factHandlers.add(handler);
  }

  /**
   * Appends records; resolves when they are durable and applied. All that is appended while the disk is
   * busy becomes durable together. Rejects with `JournalUnavailableError`: then none of them counts.
   */
  append(...records: readonly NewRecord[]): Promise<void> {
    const full = this.#fullFor(records);
    return full === undefined ? this.#enqueue(records) : Promise.reject(full);
  }

  /**
   * Appends what `decide` makes of the state once all that was appended before is applied; nothing else is
   * written between its look and its records. For records that depend on others, such as the last part of
   * a message on those that wait. Rejects with what `decide` throws, else as `append` does.
   */
  appendDecided(decide: Decision): Promise<void> {
    return this.#enqueue(decide);
  }

  #fullFor(records: readonly NewRecord[]): JournalUnavailableError | undefined {
    if (this.#state.facts.size < FACTS_MAX || !records.some(isGrowth)) return undefined;
    return new JournalUnavailableError(`${FACTS_MAX} facts wait for the control plane`);
  }

  #enqueue(records: Pending['records']): Promise<void> {
    if (this.#closed) return Promise.reject(new JournalUnavailableError('the journal is closed'));
    if (this.#pending.length >= PENDING_MAX) {
      return Promise.reject(new JournalUnavailableError(`${PENDING_MAX} records wait for the disk`));
    }
    return new Promise((resolve, reject) => {
      this.#pending.push({ records, resolve, reject });
      this.#flush();
    });
  }

  /** Forgets the facts up to `sequence`: the control plane has them. */
  acknowledge(sequence: number): void {
    if (this.#closed || sequence <= this.#state.acknowledged) return;
    applyAcknowledgement(this.#state, sequence);
    this.#acknowledgementDue = true;
    this.#acknowledgementTimer ??= this.#clock.after(ACKNOWLEDGEMENT_DELAY_MS, () => {
      this.#acknowledgementTimer = undefined;
      if (this.#acknowledgementDue) this.#flush();
    });
  }

  /** Gives the journal a new identity: for a control plane that knows more of this one than the journal. */
  async renew(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
    renumber(this.#state, randomUUID());
    // Nothing with the new numbers may be appended to the old file, also if the rewriting fails.
    const rewritten = this.#file.close().then(() => this.#rewrite());
    this.#occupy(rewritten.catch(() => undefined));
    await rewritten;
  }

  /** Writes what waits and closes the file. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#acknowledgementTimer?.cancel();
    if (this.#acknowledgementDue) this.#flush();
    while (this.#flushing !== undefined) await this.#flushing;
    await this.#file.close();
  }

  #flush(): void {
    if (this.#flushing === undefined) this.#occupy(this.#flushAll());
  }

  /** One piece of work at a time has the file; what was appended meanwhile follows. */
  #occupy(work: Promise<void>): void {
    this.#flushing = work.finally(() => {
      this.#flushing = undefined;
      if (this.#pending.length > 0) this.#flush();
    });
  }

  async #flushAll(): Promise<void> {
    // A turn of the loop lets all that arrived together share one sync.
    await Promise.resolve();
    while (this.#pending.length > 0 || this.#acknowledgementDue) {
      await this.#writeNext();
    }
    if (this.#file.bytes > this.#compactBytes) {
      await this.#rewrite().catch((error) => this.#log.warn({ err: error }, 'the journal was not compacted'));
    }
  }

  /** Writes all that waits up to the next decision, or that decision by itself. */
  async #writeNext(): Promise<void> {
    const decisionAt = this.#pending.findIndex(({ records }) => typeof records === 'function');
    const count = decisionAt < 0 ? this.#pending.length : Math.max(1, decisionAt);
    const batch = this.#pending.splice(0, count);
    let records: NewRecord[];
    try {
      records = batch.flatMap((pending) => this.#decided(pending.records));
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    await this.#write(batch, records);
  }

  #decided(records: Pending['records']): readonly NewRecord[] {
    if (typeof records !== 'function') return records;
    const decided = records(this.#state);
    const full = this.#fullFor(decided);
    if (full !== undefined) throw full;
    return decided;
  }

  async #write(batch: readonly Pending[], newRecords: readonly NewRecord[]): Promise<void> {
    const records = this.#numbered(newRecords);
    const acknowledgement = this.#acknowledgementDue;
    this.#acknowledgementDue = false;
    if (acknowledgement) records.push({ kind: 'ack', sequence: this.#state.acknowledged });
    try {
      if (!this.#file.usable) await this.#rewrite();
      if (records.length > 0) await this.#file.append(records);
    } catch (cause) {
      this.#fail(batch, cause);
      return;
    }
    if (this.#failing) this.#log.info({}, 'the journal can be written again');
    this.#failing = false;
    for (const record of records) applyRecord(this.#state, record);
    for (const { resolve } of batch) resolve();
    if (records.some((record) => record.kind === 'fact')) {
      for (const handler of [...this.#factHandlers]) handler();
    }
  }

  #fail(batch: readonly Pending[], cause: unknown): void {
    if (!this.#failing) this.#log.error({ err: cause }, 'the journal cannot be written');
    this.#failing = true;
    const error = new JournalUnavailableError('the journal cannot be written', { cause });
    for (const { reject } of batch) reject(error);
  }

  #numbered(records: readonly NewRecord[]): JournalRecord[] {
    let sequence = this.#state.nextSequence;
    return records.map((record) => (record.kind === 'fact' ? { ...record, sequence: sequence++ } : record));
  }

  async #rewrite(): Promise<void> {
    dropOldOutcomes(this.#state, this.#clock.now());
    await this.#file.rewrite(snapshotOf(this.#state));
    this.#compactBytes = Math.max(COMPACT_BYTES_MIN, this.#file.bytes * COMPACT_GROWTH);
  }
}

/** True for records that need room until the control plane acknowledges; outcomes were given room before. */
function isGrowth(record: NewRecord): boolean {
  if (record.kind === 'fact') return record.fact.kind !== 'sms_outcome';
  return record.kind === 'part' || record.kind === 'intent';
}
