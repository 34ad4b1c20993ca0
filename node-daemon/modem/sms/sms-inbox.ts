// Receives messages: reads them after an announcement or a sweep, makes durable facts, and only then deletes them on the modem.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { PortClosedError } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import type { Priority } from '../../at/command-queue.ts';
import type { Information } from '../../at/exchange.ts';
import type { Urc } from '../../at/urc.ts';
import type { Journal } from '../../journal/journal.ts';
import type { ModemShares } from '../../journal/share.ts';
import { AnnouncedMessages } from './announced-messages.ts';
import { DirectMessages } from './direct-messages.ts';
import { SmsDeletions } from './sms-deletions.ts';
import { SmsRecorder } from './sms-recorder.ts';
import {
  type Announced,
  announcedBy,
  type FoundInStorage,
  isDirect,
  parseList,
} from './storage/sms-storage.ts';
import type { StorageAccess } from './storage/storage-access.ts';
import { StorageReader } from './storage/storage-reader.ts';
import { StoredMessages } from './stored-messages.ts';

/** Above this number deletions go before reads. Otherwise the storage would fill up under steady traffic. */
const DELETIONS_WAITING_MAX = 16;
/** A due sweep lets at most this many other jobs go first. Otherwise it would never run under steady traffic. */
const JOBS_BEFORE_SWEEP_MAX = 64;
/** Time from the last +CMTI of a burst to a sweep, because modems lose some of them when many come at once. */
export const SWEEP_AFTER_URC_MS = 2_000;

const STORAGE_ERROR = 'message storage error';

/** The parts that the inbox of one SIM uses. */
interface SmsInboxParts {
  readonly iccid: string;
  /** IMEI of the modem. A modem without one is not recognized later. */
  readonly device: string | undefined;
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shares: ModemShares;
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
  readonly #direct: DirectMessages;
  readonly #announced = new AnnouncedMessages();
  readonly #reader: StorageReader;
  readonly #stored: StoredMessages;
  readonly #deletions: SmsDeletions;
  /** Storages whose sweep is due. */
  readonly #sweeps = new Set<string>();
  /** Storages that were not swept yet. Their first sweep also reads announced messages. */
  readonly #unswept: Set<string>;
  #jobsBeforeSweep = 0;
  #canList = true;
  /** The results of the next sweep by storage, while a caller waits for them. */
  #found: Map<string, FoundInStorage> | undefined;
  #working: Promise<void> | undefined;
  #sweepTimer: Timer | undefined;
  #stopped = false;

  constructor(parts: SmsInboxParts) {
    this.#parts = parts;
    this.#unswept = new Set(parts.storages);
    const recorder = new SmsRecorder(parts);
    this.#direct = new DirectMessages(parts, recorder);
    this.#reader = new StorageReader(parts);
    const deletions = new SmsDeletions(parts);
    this.#deletions = deletions;
    this.#stored = new StoredMessages(parts, { recorder, deletions, onDue: () => this.#work() });
    parts.channel.onUrc((urc) => this.#onUrc(urc));
  }

  /** Reads all storages. Resolves when all messages are facts and deleted. */
  async sweep(): Promise<void> {
    this.#sweepAll();
    this.#work();
    while (this.#working !== undefined || this.#stored.isBusy) {
      await this.#working;
      await this.#stored.idle();
    }
  }

  /** Starts a sweep. Logs its failure. */
  startSweep(): void {
    this.sweep().catch((error) => this.#parts.log.warn({ err: error }, 'message sweep failed'));
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
    this.#stored.stop();
    this.#sweepTimer?.cancel();
    this.#announced.clear();
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
    const isPlace = announced !== 'somewhere' && this.#announced.add(announced);
    if (!isPlace || this.#unswept.has(announced.storage)) this.#sweepAll();
    this.#sweepTimer?.cancel();
    this.#sweepTimer = this.#parts.clock.after(SWEEP_AFTER_URC_MS, () => this.startSweep());
    this.#work();
  }

  #sweepAll(): void {
    for (const storage of this.#parts.storages) this.#sweeps.add(storage);
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
        this.#parts.log.warn({ err: error }, STORAGE_ERROR);
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
    const { first } = this.#announced;
    if (first === undefined || this.#deletions.waiting >= DELETIONS_WAITING_MAX) return undefined;
    if (this.#canList && this.#announced.areManyIn(first.storage)) return () => this.#readMany(first.storage);
    this.#announced.removeFirst();
    return () => this.#readOne(first);
  }

  async #sweep(storage: string): Promise<void> {
    this.#sweeps.delete(storage);
    const found = this.#found;
    const usage = found === undefined ? undefined : await this.#parts.access.usage(storage);
    const beganAt = this.#parts.clock.now();
    try {
      const entries = await this.#takeAll(storage, 'background', () => this.#stored.swept(storage, beganAt));
      if (usage !== undefined) found?.set(storage, { ...usage, entries });
    } finally {
      this.#unswept.delete(storage);
    }
  }

  async #readOne(announced: Announced): Promise<void> {
    const message = await this.#reader.readOne(announced);
    if (message !== undefined) void this.#stored.recordOne(announced.storage, message);
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

  /** Reads a storage, in the order of the announcements. Resolves before the journal has the messages; `onRecorded` is called when it has. */
  async #takeAll(
    storage: string,
    priority: Priority,
    onRecorded = (): void => undefined,
  ): Promise<readonly Information[]> {
    const beginHere = this.#unswept.has(storage);
    const announced = this.#announced.in(storage);
    const entries = await this.#reader.list(storage, priority);
    const places = this.#announced.listed(storage, announced);
    this.#stored
      .recordAll(storage, parseList(entries), { places, beginHere })
      .then((areRecorded) => {
        if (areRecorded) onRecorded();
      })
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, STORAGE_ERROR));
    return entries;
  }
}
