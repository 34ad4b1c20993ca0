// Receives messages: reads them after an announcement or a sweep, makes durable facts, and only then deletes them on the modem.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { CmsError, PortClosedError } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { type AtCommand, atCommand } from '../../at/command.ts';
import type { Priority } from '../../at/command-queue.ts';
import type { Information } from '../../at/exchange.ts';
import type { Urc } from '../../at/urc.ts';
import type { Journal } from '../../journal/journal.ts';
import { entryKey, holderOf } from '../../journal/journal-state.ts';
import type { NewRecord, StorageEntry } from '../../journal/record.ts';
import { DirectMessages } from './direct-messages.ts';
import { RefusedMessages } from './refused-messages.ts';
import { AcceptingEntries, readRecords, SmsAcceptance } from './sms-acceptance.ts';
import { SmsDeletions } from './sms-deletions.ts';
import { readPdu } from './sms-pdu.ts';
import {
  type Announced,
  type Announcements,
  announcedBy,
  type FoundInStorage,
  inOrderOfArrival,
  isDirect,
  parseList,
  parseRead,
  pduDigestOf,
  type StoredMessage,
} from './sms-storage.ts';
import { STORAGE_TIMEOUT_MS, type StorageAccess } from './storage-access.ts';
import { StorageOwner } from './storage-owner.ts';
import { SweepTimes } from './sweep-times.ts';

/** Time to list 255 messages at SIM speed. */
const LIST_TIMEOUT_MS = 60_000;
/** Most announced messages that wait to be read. A sweep finds the others. */
const READS_MAX = 512;
/** From this number on, announced messages of one storage are read with one command. */
const LIST_FROM = 4;
/** Above this number deletions go before reads. Otherwise the storage would fill up under steady traffic. */
const DELETIONS_WAITING_MAX = 16;
/** A due sweep lets at most this many other jobs go first. Otherwise it would never run under steady traffic. */
const JOBS_BEFORE_SWEEP_MAX = 64;
/** Time from the last +CMTI of a burst to a sweep, because modems lose some of them when many come at once. */
export const SWEEP_AFTER_URC_MS = 2_000;
/** 3GPP TS 27.005 §3.2.5: invalid memory index, a possible answer for an empty place. */
const CMS_INVALID_INDEX = 321;

/** The parts that the inbox of one SIM uses. */
interface SmsInboxParts {
  readonly iccid: string;
  /** IMEI of the modem. A modem without one is not recognized later. */
  readonly device: string | undefined;
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly storages: readonly string[];
  readonly access: StorageAccess;
  /** Resolves if the SIM is still this one, so that messages read before and deleted next belong to it. */
  readonly confirmSim: () => Promise<void>;
  /** Resolves when no message is being sent. Until then a report may belong to a message without a reference yet. */
  readonly sendingDone: () => Promise<void>;
  readonly onSwept?: (at: string) => void;
}

/**
 * One worker does reads first, then deletions, then sweeps, so that an announced message is soon a fact, and no storage changes during a
 * command. The first sweep of a storage, which finds older messages, goes before everything. Journal writes never delay the next read.
 */
export class SmsInbox {
  readonly #parts: SmsInboxParts;
  readonly #log: Logger;
  readonly #acceptance: SmsAcceptance;
  readonly #direct: DirectMessages;
  readonly #reads: Announced[] = [];
  readonly #deletions: SmsDeletions;
  readonly #sweeps = new Set<string>();
  /** Storages that were not swept yet. Their first sweep also reads announced messages. */
  readonly #unswept: Set<string>;
  readonly #sweepTimes: SweepTimes;
  readonly #owner: StorageOwner;
  #jobsBeforeSweep = 0;
  readonly #accepting: AcceptingEntries;
  /** Readings whose entries are not in the journal yet. */
  readonly #unfinished = new Set<Promise<boolean>>();
  readonly #refused: RefusedMessages;
  #canList = true;
  /** The results of the next sweep by storage, while a caller waits for them. */
  #found: Map<string, FoundInStorage> | undefined;
  #working: Promise<void> | undefined;
  #sweepTimer: Timer | undefined;
  #stopped = false;

  constructor(parts: SmsInboxParts) {
    this.#parts = parts;
    this.#log = parts.log;
    this.#unswept = new Set(parts.storages);
    this.#accepting = AcceptingEntries.of(parts.journal);
    this.#refused = new RefusedMessages(parts, 'messages stay on the modem: the journal refuses them');
    this.#acceptance = new SmsAcceptance(parts);
    this.#direct = new DirectMessages(parts, this.#acceptance);
    this.#deletions = new SmsDeletions(parts);
    this.#owner = new StorageOwner(parts);
    this.#sweepTimes = new SweepTimes(parts.storages, parts.onSwept);
    parts.channel.onUrc((urc) => this.#onUrc(urc));
  }

  /** Reads all storages. Resolves when all messages are facts and deleted. */
  async sweep(): Promise<void> {
    for (const storage of this.#parts.storages) this.#sweeps.add(storage);
    this.#work();
    while (this.#working !== undefined || this.#unfinished.size > 0) {
      await this.#working;
      await Promise.all(this.#unfinished);
    }
  }

  /** Sweeps, and resolves with the contents of each storage. Only the inbox may read them, because reading marks messages as read. */
  async readAll(): Promise<ReadonlyMap<string, FoundInStorage>> {
    const found = this.#found ?? new Map<string, FoundInStorage>();
    this.#found = found;
    await this.sweep();
    if (this.#found === found) this.#found = undefined;
    return found;
  }

  /** Stops receiving. A message that was read but is not in the journal yet stays on the modem. */
  stop(): void {
    this.#stopped = true;
    this.#sweepTimer?.cancel();
    this.#reads.length = 0;
    this.#deletions.clear();
    this.#sweeps.clear();
  }

  #onUrc(urc: Urc): void {
    if (this.#stopped) return;
    if (isDirect(urc)) {
      this.#direct.take(urc.body);
      return;
    }
    const announced = announcedBy(urc.line, this.#parts.storages);
    if (announced === undefined) return;
    const isPlace = announced !== 'somewhere' && this.#reads.length < READS_MAX;
    if (isPlace) this.#reads.push(announced);
    if (!isPlace || this.#unswept.has(announced.storage))
      for (const storage of this.#parts.storages) this.#sweeps.add(storage);
    this.#sweepTimer?.cancel();
    this.#sweepTimer = this.#parts.clock.after(SWEEP_AFTER_URC_MS, () => {
      this.sweep().catch((error) => this.#log.warn({ err: error }, 'message sweep failed'));
    });
    this.#work();
  }

  #work(): void {
    if (!this.#stopped) this.#working ??= this.#workAll();
  }

  async #workAll(): Promise<void> {
    // The field must have the promise before the work ends.
    await Promise.resolve();
    try {
      await this.#doJobs();
    } finally {
      this.#working = undefined;
    }
  }

  async #doJobs(): Promise<void> {
    for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) {
      try {
        await job();
      } catch (error) {
        if (error instanceof PortClosedError) return;
        this.#log.warn({ err: error }, 'message storage error');
      }
    }
  }

  #nextJob(): (() => Promise<void>) | undefined {
    const [storage] = this.#sweeps;
    const isSweepFirst =
      storage !== undefined && (this.#unswept.has(storage) || this.#jobsBeforeSweep >= JOBS_BEFORE_SWEEP_MAX);
    const job = isSweepFirst ? undefined : (this.#nextRead() ?? this.#deletions.next());
    if (job !== undefined) {
      this.#jobsBeforeSweep = storage === undefined ? 0 : this.#jobsBeforeSweep + 1;
      return job;
    }
    this.#jobsBeforeSweep = 0;
    return storage === undefined ? undefined : () => this.#sweep(storage);
  }

  #nextRead(): (() => Promise<void>) | undefined {
    const [read] = this.#reads;
    if (read === undefined || this.#deletions.waiting >= DELETIONS_WAITING_MAX) return undefined;
    const many = this.#reads.filter(({ storage }) => storage === read.storage).length >= LIST_FROM;
    if (many && this.#canList) return () => this.#readMany(read.storage);
    this.#reads.shift();
    return () => this.#readOne(read);
  }

  async #sweep(storage: string): Promise<void> {
    this.#sweeps.delete(storage);
    const found = this.#found;
    const usage = found === undefined ? undefined : await this.#parts.access.usage(storage);
    const beganAt = this.#parts.clock.now();
    try {
      const { accepted, entries } = await this.#takeAll(storage, 'background');
      if (usage !== undefined) found?.set(storage, { ...usage, entries });
      void accepted.then((areAccepted) => {
        if (!areAccepted) return;
        this.#sweepTimes.note(storage, beganAt);
        this.#owner.noteAccepted(storage);
      });
    } finally {
      this.#unswept.delete(storage);
    }
  }

  async #readOne({ storage, index }: Announced): Promise<void> {
    const command = atCommand(`AT+CMGR=${index}`, {
      answer: /^\+CMGR:/,
      bodyAfter: /^\+CMGR:/,
      timeoutMs: STORAGE_TIMEOUT_MS,
    });
    try {
      const message = parseRead(index, await this.#read(storage, command, 'urgent'));
      if (message !== undefined) void this.#acceptOne(storage, message);
    } catch (error) {
      if (!(error instanceof CmsError && error.code === CMS_INVALID_INDEX)) throw error;
    }
  }

  /** Reads the announced messages of a storage with one command. */
  async #readMany(storage: string): Promise<void> {
    try {
      await this.#takeAll(storage, 'urgent');
    } catch (error) {
      if (!(error instanceof PortClosedError)) this.#canList = false;
      throw error;
    }
  }

  /** Reads a storage, in the order of the announcements. Resolves before the journal has the messages. */
  async #takeAll(
    storage: string,
    priority: 'urgent' | 'background',
  ): Promise<{ readonly accepted: Promise<boolean>; readonly entries: readonly Information[] }> {
    const beginHere = this.#unswept.has(storage);
    const announced = this.#reads.filter((read) => read.storage === storage);
    const entries = await this.#list(storage, priority);
    const messages = parseList(entries);
    // A message that was announced meanwhile may be missing from the list. It keeps its place in the order and is read later.
    const rest = this.#reads.filter((read) => !announced.includes(read));
    const order = [...announced, ...rest.filter((read) => read.storage === storage)];
    this.#reads.splice(0, this.#reads.length, ...rest);
    const places = order.map(({ index }) => index);
    return { entries, accepted: this.#acceptAll(storage, messages, { places, beginHere }) };
  }

  #list(storage: string, priority: 'urgent' | 'background'): Promise<readonly Information[]> {
    const command = atCommand('AT+CMGL=4', {
      answer: /^\+CMGL:/,
      bodyAfter: /^\+CMGL:/,
      timeoutMs: LIST_TIMEOUT_MS,
    });
    return this.#read(storage, command, priority);
  }

  async #read(storage: string, command: AtCommand, priority: Priority): Promise<readonly Information[]> {
    const information = await this.#parts.access.send(storage, command, priority);
    await this.#parts.confirmSim();
    return information;
  }

  /** Resolves with whether all messages are in the journal. */
  async #acceptAll(
    storage: string,
    messages: readonly StoredMessage[],
    announcements: Announcements,
  ): Promise<boolean> {
    this.#forgetGone(storage, messages);
    const accepted: Promise<boolean>[] = [];
    for (const message of inOrderOfArrival(messages, announcements)) {
      if (!this.#stopped) accepted.push(this.#acceptOne(storage, message));
    }
    return (await Promise.all(accepted)).every((isAccepted) => isAccepted) && !this.#stopped;
  }

  /** Forgets entries that the modem no longer lists: their deletion is final. */
  #forgetGone(storage: string, messages: readonly StoredMessage[]): void {
    const { journal } = this.#parts;
    const holder = holderOf(this.#owner.placeIn(storage));
    const listed = new Map(messages.map(({ index, pdu }) => [index, journal.digestOf(pduDigestOf(pdu))]));
    const gone = [...journal.state.entries.values()].filter(
      ({ entry }) =>
        holderOf(entry) === holder && entry.storage === storage && listed.get(entry.index) !== entry.digest,
    );
    if (gone.length > 0) {
      journal.appendLazily(...gone.map(({ entry }): NewRecord => ({ kind: 'gone', entry })));
    }
  }

  /** Accepts a message that was read, and then deletes it. Resolves with whether the journal accepted it. */
  #acceptOne(storage: string, { index, unread, pdu }: StoredMessage): Promise<boolean> {
    const entry: StorageEntry = {
      ...this.#owner.placeIn(storage),
      index,
      digest: this.#parts.journal.digestOf(pduDigestOf(pdu)),
    };
    const key = entryKey(entry);
    // The message to delete in this place may be gone, so this reading decides.
    this.#deletions.forget(entry);
    const accepted = this.#accepting
      .once(entry, () => this.#accept(entry, pdu, unread))
      .then(
        () => {
          this.#refused.accepted(key);
          if (this.#stopped) return true;
          this.#deletions.add(entry);
          this.#work();
          return true;
        },
        (error: unknown) => {
          this.#refused.refused(key, error);
          return false;
        },
      );
    this.#unfinished.add(accepted);
    void accepted.then(() => {
      this.#unfinished.delete(accepted);
      if (this.#unfinished.size === 0) this.#refused.logRefused();
    });
    return accepted;
  }

  /** Resolves when the entry may be deleted. Rejects if the journal refuses. */
  #accept(entry: StorageEntry, pdu: string, unread: boolean): Promise<void> {
    const state = this.#deletions.stateOf(entry);
    if (state === 'accepted') return Promise.resolve();
    this.#deletions.reused(entry);
    // After a confirmed deletion, an equal unread entry is a new message. An equal read entry means that the
    // deletion did not happen, so it is due again.
    if (state === 'deleted' && !unread) return this.#parts.journal.append(...readRecords(entry));
    const formerIccid = this.#owner.formerIccidIn(entry.storage);
    return formerIccid === undefined
      ? this.#acceptance.accept(readPdu(pdu), entry, this.#sweepTimes.lastOf(entry.storage))
      : this.#acceptance.acceptStranded(readPdu(pdu), entry, formerIccid);
  }
}
