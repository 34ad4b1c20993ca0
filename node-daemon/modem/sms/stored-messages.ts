// Records the messages that were read in storages: makes durable facts, and only then lets the modem delete them.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Journal } from '../../journal/journal.ts';
import { entryKey, holderOf } from '../../journal/journal-state.ts';
import type { NewRecord, StorageEntry } from '../../journal/record.ts';
import { readPdu } from '../../sms/received-pdu.ts';
import { RefusedMessages } from './refused-messages.ts';
import type { SmsDeletions } from './sms-deletions.ts';
import { readRecords, type SmsRecorder, UnrecordedEntries } from './sms-recorder.ts';
import {
  type Announcements,
  inOrderOfArrival,
  pduDigestOf,
  type StoredMessage,
} from './storage/sms-storage.ts';
import { StorageOwner } from './storage/storage-owner.ts';
import { SweepTimes } from './sweep-times.ts';

/** The parts that stored messages use. */
interface StoredMessagesParts {
  readonly iccid: string;
  /** IMEI of the modem. A modem without one is not recognized later. */
  readonly device: string | undefined;
  readonly storages: readonly string[];
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  /** As in `SweepTimes`. */
  readonly onSwept?: (at: string) => void;
}

/** The stored messages of one SIM. Journal writes never delay the next read. */
export class StoredMessages {
  readonly #parts: StoredMessagesParts;
  readonly #recorder: SmsRecorder;
  readonly #deletions: SmsDeletions;
  /** Called when a deletion has become due. */
  readonly #onDue: () => void;
  readonly #unrecorded: UnrecordedEntries;
  readonly #owner: StorageOwner;
  readonly #refused: RefusedMessages;
  readonly #sweepTimes: SweepTimes;
  /** Readings whose entries are not in the journal yet. */
  readonly #unfinished = new Set<Promise<boolean>>();
  #stopped = false;

  constructor(
    parts: StoredMessagesParts,
    { recorder, deletions, onDue }: { recorder: SmsRecorder; deletions: SmsDeletions; onDue: () => void },
  ) {
    this.#parts = parts;
    this.#recorder = recorder;
    this.#deletions = deletions;
    this.#onDue = onDue;
    this.#unrecorded = UnrecordedEntries.of(parts.journal);
    this.#owner = new StorageOwner(parts);
    this.#refused = new RefusedMessages(parts, 'messages stay on the modem: the journal refuses them');
    this.#sweepTimes = new SweepTimes(parts.storages, parts.onSwept);
  }

  /** Whether a message that was read is not in the journal yet. */
  get isBusy(): boolean {
    return this.#unfinished.size > 0;
  }

  /** Resolves when the journal has or refuses the messages that were read until now. */
  async idle(): Promise<void> {
    await Promise.all(this.#unfinished);
  }

  /** From now on no deletion becomes due. A message that was read but is not in the journal yet stays on the modem. */
  stop(): void {
    this.#stopped = true;
  }

  /** Call it when all messages of a storage that was swept at `beganAt`, milliseconds since the epoch, are in the journal. */
  swept(storage: string, beganAt: number): void {
    this.#sweepTimes.note(storage, beganAt);
    this.#owner.noteAccepted(storage);
  }

  /** Records all messages of a storage. Resolves with whether all of them are in the journal. */
  async recordAll(
    storage: string,
    messages: readonly StoredMessage[],
    announcements: Announcements,
  ): Promise<boolean> {
    this.#forgetGone(storage, messages);
    const recorded: Promise<boolean>[] = [];
    for (const message of inOrderOfArrival(messages, announcements)) {
      if (!this.#stopped) recorded.push(this.recordOne(storage, message));
    }
    return (await Promise.all(recorded)).every((isRecorded) => isRecorded) && !this.#stopped;
  }

  /** Records a message that was read, so that its deletion becomes due. Resolves with whether the journal has it. */
  recordOne(storage: string, { index, unread, pdu }: StoredMessage): Promise<boolean> {
    const entry: StorageEntry = {
      ...this.#owner.placeIn(storage),
      index,
      digest: this.#parts.journal.digestOf(pduDigestOf(pdu)),
    };
    const key = entryKey(entry);
    // The message to delete in this place may be gone, so this reading decides.
    this.#deletions.forget(entry);
    const recorded = this.#unrecorded
      .once(entry, () => this.#record(entry, pdu, unread))
      .then(
        () => {
          this.#refused.recorded(key);
          if (this.#stopped) return true;
          this.#deletions.add(entry);
          this.#onDue();
          return true;
        },
        (error: unknown) => {
          this.#refused.refused(key, error);
          return false;
        },
      );
    this.#unfinished.add(recorded);
    void recorded.then(() => {
      this.#unfinished.delete(recorded);
      if (this.#unfinished.size === 0) this.#refused.logRefused();
    });
    return recorded;
  }

  /** Resolves when the entry may be deleted. Rejects if the journal refuses. */
  #record(entry: StorageEntry, pdu: string, unread: boolean): Promise<void> {
    const state = this.#deletions.stateOf(entry);
    if (state === 'recorded') return Promise.resolve();
    this.#deletions.reused(entry);
    // After a confirmed deletion, an equal unread entry is a new message. An equal read entry means that the
    // deletion did not happen, so it is due again.
    if (state === 'deleted' && !unread) return this.#parts.journal.append(...readRecords(entry));
    const formerIccid = this.#owner.formerIccidIn(entry.storage);
    return formerIccid === undefined
      ? this.#recorder.record(readPdu(pdu), entry, this.#sweepTimes.lastOf(entry.storage))
      : this.#recorder.recordStranded(readPdu(pdu), entry, formerIccid);
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
}
