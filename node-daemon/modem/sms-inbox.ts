// Receiving: from a +CMTI or a sweep to a durable fact, and only then to the deletion on the modem.
import type { Clock, Timer } from '#shared/clock.ts';
import type { FactOf } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import { CmsError, PortClosedError } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand, quoted } from '../at/command.ts';
import { fieldsOf, integerField } from '../at/fields.ts';
import type { Urc } from '../at/urc.ts';
import type { Journal } from '../journal/journal.ts';
import { entryKey } from '../journal/journal-state.ts';
import type { NewRecord, StorageEntry } from '../journal/record.ts';
import type { ReadonlyGroups } from '../journal/written-groups.ts';
import { groupKey, joinParts, type MessagePart, placeOf } from '../sms/concatenation.ts';
import { type Deliver, decodeReceived } from '../sms/tpdu.ts';
import { TpduError } from '../sms/tpdu-error.ts';
import { factRecords, receivedFacts, reportFact, unreadableFact } from './sms-facts.ts';
import { digestOf, parseList, parseRead, type StoredMessage, UNION_STORAGE } from './sms-storage.ts';

/** A full store of 255 messages at SIM speed. */
const LIST_TIMEOUT_MS = 60_000;
/** SIMs are slow, and slower when they are full. */
const STORAGE_TIMEOUT_MS = 15_000;
/** Announced messages that wait to be read. Beyond it the sweep finds them. */
const READS_MAX = 512;
/** After the last +CMTI of a burst: modems lose some of them when many come at once. */
export const SWEEP_AFTER_URC_MS = 2_000;
/** 3GPP TS 27.005 §3.2.5: invalid memory index, which an empty place may answer. */
const CMS_INVALID_INDEX = 321;
/** 3GPP TS 23.040 §9.2.3.9: "short message type 0", to be acknowledged and discarded. */
const PID_TYPE_0 = 0x40;

/** What the inbox of one SIM works on. */
export interface SmsInboxParts {
  readonly iccid: string;
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  /** Storages to sweep. */
  readonly storages: readonly string[];
  /** Resolves when no message is being sent: until then a report may be for one without a reference yet. */
  readonly sendingDone: () => Promise<void>;
}

interface Place {
  readonly storage: string;
  readonly index: number;
}

/**
 * One worker takes reads first, deletions next, sweeps last, so that what was announced is a fact as soon
 * as can be and the choice of storage (AT+CPMS) never changes under a command.
 */
export class SmsInbox {
  readonly #parts: SmsInboxParts;
  readonly #log: Logger;
  readonly #reads: Place[] = [];
  /** By `entryKey`: places in which, when they were last read, lay what may be deleted. */
  readonly #deletions = new Map<string, StorageEntry>();
  readonly #sweeps = new Set<string>();
  /** Entries on their way into the journal. */
  readonly #accepting = new Map<string, Promise<void>>();
  #storage: string | undefined;
  #working: Promise<void> | undefined;
  #sweepTimer: Timer | undefined;
  #stopped = false;

  constructor(parts: SmsInboxParts) {
    this.#parts = parts;
    this.#log = parts.log;
    parts.channel.onUrc((urc) => this.#onUrc(urc));
  }

  /** Reads all that lies in the storages; resolves when it is facts and deleted. */
  async sweep(): Promise<void> {
    for (const storage of this.#parts.storages) this.#sweeps.add(storage);
    this.#work();
    while (this.#working !== undefined) await this.#working;
  }

  /** Takes nothing more. What was read and is not journalled yet stays on the modem. */
  stop(): void {
    this.#stopped = true;
    this.#sweepTimer?.cancel();
    this.#reads.length = 0;
    this.#deletions.clear();
    this.#sweeps.clear();
  }

  #onUrc({ line, body }: Urc): void {
    if (this.#stopped) return;
    if (/^\+(CMTI|CDSI):/.test(line)) this.#onAnnounced(line);
    else if (/^\+(CMT|CDS):/.test(line) && body !== undefined) {
      // Not stored on the modem: the journal is its only copy.
      this.#accept(body).catch((error) =>
        this.#log.error({ err: error }, 'a message given directly is lost: the journal refused it'),
      );
    }
  }

  #onAnnounced(line: string): void {
    const [storage = ''] = fieldsOf(line);
    const index = integerField(fieldsOf(line), 1);
    // Some firmware announces index -1 or no storage when it could not store: the sweep knows better.
    const readable = /^[A-Z_]{2,8}$/.test(storage) && index !== undefined && index >= 0;
    // An index of the union "MT" would give the message a second identity.
    const swept = storage === UNION_STORAGE && !this.#parts.storages.includes(storage);
    if (readable && !swept && this.#reads.length < READS_MAX) this.#reads.push({ storage, index });
    else for (const each of this.#parts.storages) this.#sweeps.add(each);
    this.#sweepTimer?.cancel();
    this.#sweepTimer = this.#parts.clock.after(SWEEP_AFTER_URC_MS, () => {
      this.sweep().catch((error) => this.#log.warn({ err: error }, 'a sweep failed'));
    });
    this.#work();
  }

  #work(): void {
    this.#working ??= this.#workAll();
  }

  async #workAll(): Promise<void> {
    // The promise is in its field before the work ends.
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
        this.#log.warn({ err: error }, 'the storage of messages gave an error');
      }
    }
  }

  #nextJob(): (() => Promise<void>) | undefined {
    const read = this.#reads.shift();
    if (read !== undefined) return () => this.#read(read);
    const [deletion] = this.#deletions.values();
    if (deletion !== undefined) {
      this.#deletions.delete(entryKey(deletion));
      return () => this.#delete(deletion);
    }
    const [storage] = this.#sweeps;
    if (storage === undefined) return undefined;
    this.#sweeps.delete(storage);
    return () => this.#sweep(storage);
  }

  async #read({ storage, index }: Place): Promise<void> {
    await this.#select(storage);
    const message = await this.#readMessage(index);
    if (message === undefined) return;
    // The next read need not wait for the disk.
    this.#acceptStored(storage, message).then(
      (entry) => {
        this.#deletions.set(entryKey(entry), entry);
        this.#work();
      },
      (error) => this.#log.warn({ err: error }, 'a message stays on the modem: the journal refused it'),
    );
  }

  async #readMessage(index: number): Promise<StoredMessage | undefined> {
    const command = atCommand(`AT+CMGR=${index}`, {
      answer: /^\+CMGR:/,
      answerHasBody: true,
      timeoutMs: STORAGE_TIMEOUT_MS,
    });
    try {
      return parseRead(index, await this.#parts.channel.send(command, 'urgent'));
    } catch (error) {
      if (error instanceof CmsError && error.code === CMS_INVALID_INDEX) return undefined;
      throw error;
    }
  }

  async #sweep(storage: string): Promise<void> {
    await this.#select(storage);
    await Promise.allSettled(this.#accepting.values());
    const command = atCommand('AT+CMGL=4', {
      answer: /^\+CMGL:/,
      answerHasBody: true,
      timeoutMs: LIST_TIMEOUT_MS,
    });
    const messages = parseList(await this.#parts.channel.send(command, 'background'));
    await this.#forgetGone(storage, messages);
    for (const message of messages) {
      if (this.#stopped) return;
      const entry = await this.#acceptStored(storage, message);
      this.#deletions.set(entryKey(entry), entry);
    }
  }

  /** Entries that the modem does not list any more are deleted for good. */
  async #forgetGone(storage: string, messages: readonly StoredMessage[]): Promise<void> {
    const { iccid, journal } = this.#parts;
    const listed = new Map(messages.map(({ index, pdu }) => [index, digestOf(pdu)]));
    const gone = [...journal.state.entries.values()].filter(
      ({ entry }) =>
        entry.iccid === iccid && entry.storage === storage && listed.get(entry.index) !== entry.digest,
    );
    if (gone.length > 0) {
      await journal.append(...gone.map(({ entry }): NewRecord => ({ kind: 'gone', entry })));
    }
  }

  /** Resolves with the entry when it is safe to delete it. Rejects when the journal refuses. */
  async #acceptStored(storage: string, { index, unread, pdu }: StoredMessage): Promise<StorageEntry> {
    const entry: StorageEntry = { iccid: this.#parts.iccid, storage, index, digest: digestOf(pdu) };
    // What was to be deleted there may be gone: this reading decides.
    this.#deletions.delete(entryKey(entry));
    const key = `${entryKey(entry)}/${entry.digest}`;
    const accepting = this.#accepting.get(key);
    if (accepting !== undefined) {
      await accepting;
      return entry;
    }
    const known = this.#parts.journal.state.entries.get(entryKey(entry));
    // After a deletion that the modem confirmed, an unread entry is a new message that happens to be equal.
    const isNew = known?.entry.digest !== entry.digest || (known.deleted && unread);
    if (!isNew) {
      // It lies there all the same: the deletion did not happen, and is due again.
      if (known.deleted) await this.#parts.journal.append({ kind: 'read', entry });
      return entry;
    }
    const accepted = this.#accept(pdu, entry).finally(() => this.#accepting.delete(key));
    this.#accepting.set(key, accepted);
    await accepted;
    return entry;
  }

  async #accept(pdu: string, entry?: StorageEntry): Promise<void> {
    const { clock, iccid, journal } = this.#parts;
    const receivedAt = new Date(clock.now()).toISOString();
    const place = entry === undefined ? {} : { entry };
    let decoded: ReturnType<typeof decodeReceived>;
    try {
      decoded = decodeReceived(pdu);
    } catch (error) {
      if (!(error instanceof TpduError)) throw error;
      const fact = unreadableFact(iccid, pdu, error.message, receivedAt);
      return journal.append({ kind: 'fact', fact, ...place });
    }
    if (decoded.kind === 'deliver') {
      return this.#acceptMessage(decoded, pdu, receivedAt, entry);
    }
    const report = decoded;
    const factNow = (): FactOf<'sms_report'> => reportFact(iccid, report, journal.state.commands, receivedAt);
    if (factNow().command_id === null) await this.#parts.sendingDone();
    return journal.append({ kind: 'fact', fact: factNow(), ...place });
  }

  async #acceptMessage(
    deliver: Deliver,
    pdu: string,
    receivedAt: string,
    entry?: StorageEntry,
  ): Promise<void> {
    const { iccid, journal } = this.#parts;
    const { content, concatenation, port } = deliver.userData;
    const place = entry === undefined ? {} : { entry };
    if (deliver.protocolIdentifier === PID_TYPE_0) return journal.append(...readRecords(entry));
    if (content.kind === 'octets') {
      const reason = port === undefined ? '8 bit data' : `data for port ${port}`;
      return journal.append({
        ...{ kind: 'fact', fact: unreadableFact(iccid, pdu, reason, receivedAt) },
        ...place,
      });
    }
    const { from, sentAt } = deliver;
    const { text } = content;
    if (concatenation !== undefined && concatenation.total > 1) {
      const part = { ...concatenation, from, text, sentAt, receivedAt };
      return journal.appendDecided((groups) => this.#partRecords(groups, part, entry));
    }
    const facts = receivedFacts(iccid, { from, text, sentAt, receivedAt, partial: false });
    return journal.append(...factRecords(facts, place));
  }

  #partRecords(groups: ReadonlyGroups, part: MessagePart, entry?: StorageEntry): NewRecord[] {
    const { iccid } = this.#parts;
    const group = groupKey(iccid, part);
    const place = entry === undefined ? {} : { entry };
    const waiting = groups.get(group)?.parts ?? [];
    const [first] = waiting;
    const placed = placeOf(waiting, part);
    if (placed === 'repeated') return readRecords(entry);
    if (placed === 'other' && first !== undefined) {
      const abandoned = factRecords(receivedFacts(iccid, joinParts([first, ...waiting.slice(1)])), { group });
      return [...abandoned, { kind: 'part', group, iccid, part, ...place }];
    }
    const message = joinParts([part, ...waiting]);
    if (message.partial) return [{ kind: 'part', group, iccid, part, ...place }];
    return factRecords(receivedFacts(iccid, message), { group, ...place });
  }

  /** One deletion for one message: by now the place may hold the next one. */
  async #delete(entry: StorageEntry): Promise<void> {
    const known = this.#parts.journal.state.entries.get(entryKey(entry));
    if (known?.entry.digest !== entry.digest || known.deleted) return;
    await this.#select(entry.storage);
    await this.#parts.channel.send(atCommand(`AT+CMGD=${entry.index}`, { timeoutMs: STORAGE_TIMEOUT_MS }));
    await this.#parts.journal.append({ kind: 'deleted', entry });
  }

  async #select(storage: string): Promise<void> {
    if (this.#storage === storage) return;
    this.#storage = undefined;
    const command = atCommand(`AT+CPMS=${quoted(storage)}`, {
      answer: /^\+CPMS:/,
      timeoutMs: STORAGE_TIMEOUT_MS,
    });
    await this.#parts.channel.send(command, 'urgent');
    this.#storage = storage;
  }
}

function readRecords(entry: StorageEntry | undefined): NewRecord[] {
  return entry === undefined ? [] : [{ kind: 'read', entry }];
}
