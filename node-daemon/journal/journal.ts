// The journal of a node: appends records durably in groups, numbers facts, removes acknowledged ones, compacts the file.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { DiskTrouble } from './disk-trouble.ts';
import { keepDamaged, readJournal } from './journal-contents.ts';
import { type OpenJournalDisk, readBootId } from './journal-disk.ts';
import { JournalFile } from './journal-file.ts';
import { JournalKey } from './journal-key.ts';
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
import { deferred, JournalWriter } from './journal-writer.ts';
import { COMPACT_SUFFIX, isStale, NEW_SUFFIX, removeIncomplete, removeOldDamaged } from './obsolete-texts.ts';
import { checkFacts, encodeRecord, isGrowth, type JournalRecord, type NewRecord } from './record.ts';
import { type ReadonlyGroups, WrittenGroups } from './written-groups.ts';

/** In the data folder of each daemon, once it has run. */
export const JOURNAL_FILE = 'journal.log';
/** Enough for days of a full rack without a control plane. When it is full, messages stay on the SIMs and in the network. */
export const FACTS_MAX = 50_000;
/** Most appends that wait for the disk. More would mean that the disk hangs. */
const STAGED_MAX = 10_000;
/** Below this size, compaction is not worth the work. */
export const COMPACT_BYTES_MIN = 1024 * 1024;
/** The file is compacted at this multiple of its last compact size. */
const COMPACT_GROWTH = 4;
/** Acknowledged facts stay on the disk for at most this time, even on an idle node. */
export const COMPACT_WITHIN_MS = 60 * 60 * 1000;
/** An acknowledgement may wait for others, because losing one only causes a repetition. */
const ACKNOWLEDGEMENT_DELAY_MS = 1_000;

/** The journal accepts no records now: it is full or closed, or the disk refuses. `cause` is the reason. */
export class JournalUnavailableError extends Error {
  override name = 'JournalUnavailableError';
}

/** The journal's folder and the parts that it uses. */
export interface JournalOptions {
  /** An existing folder that no other program writes to. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly openDisk?: OpenJournalDisk;
  /** Id of the system's boot. Default: read from the system. */
  readonly bootId?: string;
}

/** Records of callers and of the journal itself. */
type Appendable = NewRecord | Extract<JournalRecord, { kind: 'ack' }>;

/** Makes records that depend on the waiting parts. Must be pure and fast. */
type Decision = (groups: ReadonlyGroups) => readonly NewRecord[];

/** The steps of an append. If they reject with `JournalUnavailableError`, none of its records counts. */
interface Appended {
  /** Resolves when the records survive a kill of this process. A power cut or a later disk error can still lose them. */
  readonly written: Promise<void>;
  /** Resolves when the records are durable and applied to the state. */
  readonly durable: Promise<void>;
}

/** The durable storage of one node. */
export class Journal {
  /** Whether the folder had no file, or one without a record. */
  readonly isNew: boolean;
  /** Id of the current boot of the system. */
  readonly bootId: string;
  readonly #folder: string;
  readonly #key: JournalKey;
  readonly #file: JournalFile;
  readonly #writer: JournalWriter;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #state: JournalState;
  readonly #factHandlers = new Set<() => void>();
  readonly #trouble: DiskTrouble;
  /** State of records that are written but not durable: the next sequence number, the number of facts, groups of parts. */
  #nextSequence: number;
  #growthUnderWay = 0;
  readonly #groups: WrittenGroups;
  #factsCame = false;
  #acknowledgementTimer: Timer | undefined;
  #compactBytes = COMPACT_BYTES_MIN;
  /** Lines that became durable since the running compaction took its copy. */
  #compactionTail: Uint8Array[] | undefined;
  #compacting: Promise<void> | undefined;
  /** Whether compaction is due because the file, or one beside it, may contain texts that are no longer needed. */
  #compactionTimer: Timer | undefined;
  /** Whether written records may have been lost after a failure, so that a kill is as bad as a power cut. */
  #hasFailed = false;
  #closed = false;

  private constructor(
    file: JournalFile,
    { state, key, isNew }: { state: JournalState; key: JournalKey; isNew: boolean },
    { folder, clock, log, bootId }: JournalOptions,
  ) {
    this.#folder = folder;
    this.#key = key;
    this.isNew = isNew;
    this.bootId = bootId ?? readBootId();
    this.#file = file;
    this.#state = state;
    this.#clock = clock;
    this.#log = log;
    this.#trouble = new DiskTrouble({ clock, log });
    this.#nextSequence = state.nextSequence;
    this.#groups = new WrittenGroups(state.groups);
    this.#writer = new JournalWriter({
      file,
      clock,
      restore: () => this.#rewrite(),
      onGroupDurable: () => this.#onGroupDurable(),
      onFailure: (cause) => this.#onFailure(cause),
    });
  }

  /** Opens the journal of a folder and repairs the damage of a crash. Throws if the disk refuses. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { folder, clock, log } = options;
    const path = join(folder, JOURNAL_FILE);
    const contents = await readJournal(path);
    const key = await JournalKey.open(folder);
    const state = emptyState(randomUUID());
    for (const record of contents.records) applyRecord(state, record);
    await removeIncomplete(path);
    dropOldOutcomes(state, clock.now());
    const file = new JournalFile(path, options.openDisk);
    const isCorrupt = contents.damage === 'corrupt';
    // Lost facts may have used the next sequence numbers. A new identity avoids collisions.
    if (isCorrupt) renumber(state, randomUUID());
    const isNew = contents.records.length === 0 && !isCorrupt;
    const journal = new Journal(file, { state, key, isNew }, options);
    if (isCorrupt) {
      const aside = await keepDamaged(path);
      log.error({ aside }, 'journal damaged: kept its readable records and a copy of the file');
      await journal.#rewrite();
    } else if (contents.records[0]?.kind === 'journal') {
      if (contents.damage === 'torn') log.warn({}, 'removed an incomplete write from the end of the journal');
      await file.open(contents.goodBytes);
      journal.#compactBytes = Math.max(COMPACT_BYTES_MIN, contents.goodBytes);
      if (isStale(contents.records, state)) journal.#startCompaction();
    } else await journal.#rewrite();
    await journal.#forgetAsides();
    return journal;
  }

  /** The state of the durable records. Read-only: only `append` and `acknowledge` change it. */
  get state(): ReadonlyJournalState {
    return this.#state;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** True from a refused write until the disk has accepted all writes for a while. */
  get isFailing(): boolean {
    return this.#trouble.isOn;
  }

  /** Grows with each write and sync; undefined while there is nothing to write. */
  get steps(): number | undefined {
    return this.#writer.steps;
  }

  /** Returns the keyed digest of a text or a PDU. Without the journal's key the text cannot be guessed. */
  digestOf(plain: string): string {
    return this.#key.digestOf(plain);
  }

  /** `handler` is called after facts became durable. */
  onFact(handler: () => void): void {
    this.#factHandlers.add(handler);
  }

  /** `handler` is called after `isFailing` has changed. */
  onFailing(handler: () => void): void {
    this.#trouble.onChange(handler);
  }

  /**
   * Appends records. Resolves when they are durable and applied. Records that come while the disk is
   * busy become durable together. Rejects with `JournalUnavailableError` if none of them counts.
   */
  append(...records: readonly NewRecord[]): Promise<void> {
    return this.#add(() => records).durable;
  }

  /** Appends records and reports each step, for callers that do not have to wait for the disk. */
  appendInSteps(...records: readonly NewRecord[]): Appended {
    return this.#add(() => records);
  }

  /**
   * Appends records that can wait for the disk. The journal writes them at once. They become durable with the next append that is not
   * lazy, or some milliseconds later.
   */
  appendLazily(...records: readonly NewRecord[]): Appended {
    return this.#add(() => records, true);
  }

  /**
   * Appends the records that `decide` makes from the waiting parts, after all earlier appends are written. No other record is written in
   * between. Rejects with the error that `decide` throws, or as `append` does.
   */
  appendDecided(decide: Decision): Promise<void> {
    return this.#add(() => decide(this.#groups)).durable;
  }

  /** Removes the facts up to `sequence`, because the control plane has them. */
  acknowledge(sequence: number): void {
    if (this.#closed || sequence <= this.#state.acknowledged) return;
    const waiting = this.#state.facts.size;
    applyAcknowledgement(this.#state, sequence);
    if (this.#state.facts.size < waiting) this.#compactInTime();
    this.#acknowledgementTimer ??= this.#clock.after(ACKNOWLEDGEMENT_DELAY_MS, this.#writeAcknowledgement);
  }

  /** Gives the journal a new identity. Needed if the control plane has acknowledged facts that the journal does not contain. */
  async renew(): Promise<void> {
    await this.#writer.exclusively(async () => {
      renumber(this.#state, randomUUID());
      this.#nextSequence = this.#state.nextSequence;
      // No record with the new numbers may be appended to the old file, even if the rewriting fails.
      await this.#file.close();
      await this.#rewrite();
    });
  }

  /** Writes the waiting records, or all records if the file is gone, and closes the file. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    if (this.#acknowledgementTimer !== undefined) this.#writeAcknowledgement();
    this.#closed = true;
    this.#compactionTimer?.cancel();
    await this.#compacting;
    await this.#writer.drain();
    this.#trouble.stop();
    if (!(await this.#file.isInPlace())) {
      await this.#rewrite().catch((error: unknown) =>
        this.#log.error({ err: error }, 'the journal could not write its file before it closed'),
      );
    }
    await this.#file.close();
  }

  #add(make: () => readonly Appendable[], isLazy = false): Appended {
    if (this.#closed) return refused('the journal is closed');
    if (this.#writer.stagedCount >= STAGED_MAX)
      return refused(`${STAGED_MAX} appends are already waiting for the disk`);
    const written = deferred();
    const durable = deferred();
    let records: readonly JournalRecord[] = [];
    this.#writer.add({
      isLazy,
      encode: () => {
        records = this.#numbered(checkFacts(make()));
        return records.map(encodeRecord).join('');
      },
      onWritten: written.resolve,
      onDurable: (bytes) => {
        this.#apply(records, bytes);
        durable.resolve();
      },
      refused: (error) => {
        written.reject(error);
        durable.reject(error);
      },
    });
    return { written: written.promise, durable: durable.promise };
  }

  /** Returns the records with what the journal adds. Throws if there is no room for them. */
  #numbered(newRecords: readonly Appendable[]): JournalRecord[] {
    const growth = newRecords.filter(isGrowth).length;
    if (growth > 0 && this.#state.facts.size + this.#growthUnderWay >= FACTS_MAX) {
      throw new JournalUnavailableError(`${FACTS_MAX} facts are already waiting for the control plane`);
    }
    this.#growthUnderWay += growth;
    this.#groups.note(newRecords);
    return newRecords.map((record): JournalRecord => {
      if (record.kind === 'fact') return { ...record, sequence: this.#nextSequence++ };
      return record.kind === 'intent' && !this.#hasFailed ? { ...record, boot: this.bootId } : record;
    });
  }

  #apply(records: readonly JournalRecord[], bytes: Uint8Array): void {
    for (const record of records) {
      applyRecord(this.#state, record);
      this.#groups.confirm(record);
      if (isGrowth(record)) this.#growthUnderWay -= 1;
      if (record.kind === 'fact') this.#factsCame = true;
    }
    this.#compactionTail?.push(bytes);
  }

  #onGroupDurable(): void {
    this.#trouble.took();
    if (this.#file.bytes > this.#compactBytes) this.#startCompaction();
    if (!this.#factsCame) return;
    this.#factsCame = false;
    for (const handler of [...this.#factHandlers]) handler();
  }

  /** Discards the records that are written but not durable. */
  #onFailure(cause: unknown): JournalUnavailableError {
    this.#hasFailed = true;
    // A running compaction must include this too, because it took its copy before.
    const doubt = { kind: 'doubt' } as const;
    applyRecord(this.#state, doubt);
    this.#compactionTail?.push(Buffer.from(encodeRecord(doubt)));
    this.#nextSequence = this.#state.nextSequence;
    this.#growthUnderWay = 0;
    this.#groups.forget();
    const isFirst = !this.#trouble.isOn;
    this.#trouble.refused(cause);
    // The journal also recreates a deleted file when no caller appends. It tries once, so that it does not bother a full disk forever.
    if (isFirst && !this.#file.usable) this.#add(() => []);
    return new JournalUnavailableError('the journal cannot be written', { cause });
  }

  readonly #writeAcknowledgement = (): void => {
    this.#acknowledgementTimer?.cancel();
    this.#acknowledgementTimer = undefined;
    this.#add(() => [{ kind: 'ack', sequence: this.#state.acknowledged }]);
  };

  #compactInTime(): void {
    if (this.#closed) return;
    this.#compactionTimer ??= this.#clock.after(COMPACT_WITHIN_MS, () => {
      this.#compactionTimer = undefined;
      // A running compaction may have taken its copy before.
      if (this.#compacting === undefined) this.#startCompaction();
      else this.#compactInTime();
    });
  }

  #startCompaction(): void {
    if (this.#compacting !== undefined || this.#closed) return;
    this.#compactionTimer?.cancel();
    this.#compactionTimer = undefined;
    this.#compacting = this.#compact()
      .then(() => this.#forgetAsides())
      .finally(() => {
        this.#compacting = undefined;
      });
  }

  async #forgetAsides(): Promise<void> {
    if (await removeOldDamaged(this.#folder, this.#clock.now())) this.#compactInTime();
  }

  /** Writes a compact copy while appends continue, adds the records that came meanwhile, and switches to the copy. */
  async #compact(): Promise<void> {
    const { journalId } = this.#state;
    const tail: Uint8Array[] = [];
    dropOldOutcomes(this.#state, this.#clock.now());
    this.#compactionTail = tail;
    try {
      const compact = await this.#file.writeNew(COMPACT_SUFFIX, snapshotOf(this.#state));
      await this.#writer.exclusively(async () => {
        if (this.#state.journalId === journalId) await this.#file.replace(compact, tail);
        else await this.#file.discard(compact);
      });
      this.#compactBytes = Math.max(COMPACT_BYTES_MIN, this.#file.bytes * COMPACT_GROWTH);
    } catch (error) {
      this.#log.warn({ err: error }, 'journal compaction failed');
      this.#compactBytes = this.#file.bytes + COMPACT_BYTES_MIN;
      this.#compactInTime();
    } finally {
      this.#compactionTail = undefined;
    }
  }

  /** Runs with exclusive use of the file. */
  async #rewrite(): Promise<void> {
    dropOldOutcomes(this.#state, this.#clock.now());
    await this.#file.replace(await this.#file.writeNew(NEW_SUFFIX, snapshotOf(this.#state)));
    this.#compactBytes = Math.max(COMPACT_BYTES_MIN, this.#file.bytes * COMPACT_GROWTH);
  }
}

function refused(reason: string): Appended {
  const never = deferred();
  never.reject(new JournalUnavailableError(reason));
  return { written: never.promise, durable: never.promise };
}
