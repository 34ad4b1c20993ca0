// Turns a received PDU into journal records: messages, parts of messages, reports, and PDUs without a message.
import type { Clock } from '#shared/clock.ts';
import { type Journal, JournalUnavailableError } from '../../journal/journal.ts';
import { entryKey } from '../../journal/journal-state.ts';
import { InvalidFactError, type NewRecord, type StorageEntry } from '../../journal/record.ts';
import type { ModemShares } from '../../journal/share.ts';
import type { ReadonlyGroups } from '../../journal/written-groups.ts';
import { groupKey, joinParts, type MessagePart, partPlaceOf } from '../../sms/concatenation.ts';
import { WAP_PUSH_PORT } from '../../sms/mms-notification.ts';
import type { ReceivedPdu } from '../../sms/received-pdu.ts';
import type { StatusReport } from '../../sms/tpdu.ts';
import { messageFacts } from './push-facts.ts';
import { factRecords, unreadableFact } from './sms-facts.ts';
import { acceptedOwner, isUncertain, ownerOf, type ReportSearch, reportFacts } from './sms-reports.ts';

/** 3GPP TS 23.040 §9.2.3.9: "short message type 0", which must be acknowledged and discarded. */
const PID_TYPE_0 = 0x40;
/** A report may come before the answer to its message. The network repeats a report that waits longer than this. */
const REPORT_WAIT_MS = 10_000;
const STRANDED = 'it was in the modem when the SIM was changed';
/** Maximum number of incomplete messages. Beyond it, parts are delivered as they are. */
export const GROUPS_MAX = 10_000;

/** The parts that the recorder uses. */
interface SmsRecorderParts {
  readonly iccid: string;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly shares: ModemShares;
  /** Resolves when no message is being sent. Until then a report may belong to a message without a reference yet. */
  readonly sendingDone: () => Promise<void>;
}

/** When and where a PDU was read. */
interface Read {
  readonly receivedAt: string;
  readonly entry: StorageEntry | undefined;
  readonly arrivedAfter: string | undefined;
}

/** Writes the received PDUs of one SIM to the journal. */
export class SmsRecorder {
  readonly #parts: SmsRecorderParts;

  constructor(parts: SmsRecorderParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the message is durable. Rejects if the journal refuses, or the share of this modem is used up. `entry`: its place in a
   * storage. `arrivedAfter`: a time at which it was not there yet.
   */
  record(received: ReceivedPdu, entry?: StorageEntry, arrivedAfter?: string): Promise<void> {
    return this.#fromShare(() => this.#recordAny(received, entry, arrivedAfter));
  }

  async #recordAny(received: ReceivedPdu, entry?: StorageEntry, arrivedAfter?: string): Promise<void> {
    const receivedAt = new Date(this.#parts.clock.now()).toISOString();
    try {
      await this.#record(received, { receivedAt, entry, arrivedAfter });
    } catch (error) {
      if (!(error instanceof InvalidFactError)) throw error;
      await this.#recordUnreadable(received.pdu, { reason: error.message, receivedAt, entry });
    }
  }

  #record(received: ReceivedPdu, { receivedAt, entry, arrivedAfter }: Read): Promise<void> {
    const { iccid } = this.#parts;
    if (received.decoded === undefined) {
      return this.#recordUnreadable(received.pdu, { reason: received.reason, receivedAt, entry });
    }
    if (received.decoded.kind === 'statusReport') {
      return this.#recordReport(received.decoded, receivedAt, entry);
    }
    const { userData, indication, protocolIdentifier, from, sentAt } = received.decoded;
    const { content, concatenation, port } = userData;
    if (content.kind === 'octets' && port !== WAP_PUSH_PORT) {
      const reason = port === undefined ? '8 bit data' : `data for port ${port}`;
      return this.#recordUnreadable(received.pdu, { reason, receivedAt, entry });
    }
    const data =
      content.kind === 'text'
        ? { text: content.text }
        : { text: Buffer.from(content.octets).toString('hex'), pdu: received.pdu };
    const times = { sentAt, receivedAt, ...(arrivedAfter === undefined ? {} : { arrivedAfter }) };
    // A silent message, or one that only turns an indicator of a phone on, has no text.
    const isWithoutReader = protocolIdentifier === PID_TYPE_0 || (indication && data.text.trim() === '');
    if (isWithoutReader) return this.#parts.journal.append(...readRecords(entry));
    if (concatenation !== undefined && concatenation.total > 1) {
      const part = { ...concatenation, from, ...data, ...times };
      return this.#parts.journal.appendDecided((groups) => this.#partRecords(groups, part, entry));
    }
    const whole = { reference: 0, referenceBits: 8, total: 1, part: 1, from, ...data, ...times } as const;
    const facts = messageFacts(iccid, [whole]);
    return this.#parts.journal.append(...factRecords(facts, placeOfEntry(entry)));
  }

  /**
   * As `record`, for a message in a modem whose card was changed meanwhile. Its owner is unknown, and no customer may read the messages of
   * another one, so it is kept for the operator. `formerIccid`: the former card.
   */
  recordStranded({ pdu, decoded }: ReceivedPdu, entry: StorageEntry, formerIccid: string): Promise<void> {
    return this.#fromShare(() => {
      const receivedAt = new Date(this.#parts.clock.now()).toISOString();
      if (decoded?.kind === 'statusReport') return this.#recordReport(decoded, receivedAt, entry);
      const fact = unreadableFact(formerIccid, pdu, STRANDED, receivedAt);
      return this.#parts.journal.append({ kind: 'fact', fact, entry });
    });
  }

  /** A message that the journal refuses comes again, and counts then. */
  async #fromShare(record: () => Promise<void>): Promise<void> {
    const { messages } = this.#parts.shares;
    if (!messages.take())
      throw new JournalUnavailableError('this modem received more messages than its share');
    try {
      await record();
    } catch (error) {
      messages.giveBack();
      throw error;
    }
  }

  #recordUnreadable(
    pdu: string,
    { reason, receivedAt, entry }: { reason: string } & Omit<Read, 'arrivedAfter'>,
  ): Promise<void> {
    const fact = unreadableFact(this.#parts.iccid, pdu, reason, receivedAt);
    return this.#parts.journal.append({ kind: 'fact', fact, ...placeOfEntry(entry) });
  }

  async #recordReport(report: StatusReport, receivedAt: string, entry?: StorageEntry): Promise<void> {
    const { clock, iccid, journal } = this.#parts;
    const search = (): ReportSearch => ({ iccid, commands: journal.state.commands, now: clock.now() });
    let owner = acceptedOwner(report, search());
    if (isUncertain(owner, report, search())) {
      await this.#sendingDone();
      owner = ownerOf(report, search());
    }
    const facts = reportFacts(iccid, report, { owner, receivedAt });
    await journal.append(...factRecords(facts, placeOfEntry(entry)));
  }

  #sendingDone(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#parts.clock.after(REPORT_WAIT_MS, resolve);
      void this.#parts.sendingDone().then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #partRecords(groups: ReadonlyGroups, part: MessagePart, entry?: StorageEntry): NewRecord[] {
    const { iccid } = this.#parts;
    const group = groupKey(iccid, part);
    const place = placeOfEntry(entry);
    const waiting = groups.get(group)?.parts ?? [];
    const [first] = waiting;
    const placed = partPlaceOf(waiting, part);
    if (placed === 'repeated') return readRecords(entry);
    if (placed === 'other' && first !== undefined) {
      const abandoned = factRecords(messageFacts(iccid, [first, ...waiting.slice(1)]), { group });
      return [...abandoned, { kind: 'part', group, iccid, part, ...place }];
    }
    const parts = [part, ...waiting] as const;
    const waits = joinParts(parts).partial && (first !== undefined || groups.size < GROUPS_MAX);
    if (waits) return [{ kind: 'part', group, iccid, part, ...place }];
    return factRecords(messageFacts(iccid, parts), { group, ...place });
  }
}

/** Returns the records of an entry that was read and needs no fact. */
export function readRecords(entry: StorageEntry | undefined): NewRecord[] {
  return entry === undefined ? [] : [{ kind: 'read', entry }];
}

function placeOfEntry(entry: StorageEntry | undefined): { entry?: StorageEntry } {
  return entry === undefined ? {} : { entry };
}

const byJournal = new WeakMap<Journal, UnrecordedEntries>();

/**
 * Storage entries whose records are being written to one journal, by place and digest. They outlive the session, because the next
 * session reads them again.
 */
export class UnrecordedEntries {
  readonly #unrecorded = new Map<string, Promise<void>>();

  /** Returns the shared object of all inboxes that write to this journal. */
  static of(journal: Journal): UnrecordedEntries {
    const entries = byJournal.get(journal) ?? new UnrecordedEntries();
    byJournal.set(journal, entries);
    return entries;
  }

  /** Records the entry. If it is already being recorded, both calls share one result. */
  once(entry: StorageEntry, record: () => Promise<void>): Promise<void> {
    const key = `${entryKey(entry)}/${entry.digest}`;
    const known = this.#unrecorded.get(key);
    if (known !== undefined) return known;
    const recorded = record().finally(() => this.#unrecorded.delete(key));
    this.#unrecorded.set(key, recorded);
    return recorded;
  }
}
