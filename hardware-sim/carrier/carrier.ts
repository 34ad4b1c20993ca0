// The network between the modems: takes what they submit, routes it, and keeps what cannot be delivered yet.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type Address, encodeAddress, readAddress } from '../pdu/address.ts';
import { alphabetOf } from '../pdu/data-coding.ts';
import { encodeDeliver } from '../pdu/deliver.ts';
import { linePduOf, tpduOfLinePdu } from '../pdu/line-pdu.ts';
import { hexFromOctets, OctetReader, octetsFromHex, PduError } from '../pdu/octets.ts';
import { segmentsOf } from '../pdu/segments.ts';
import { encodeStatusReport, STATUS_DELIVERED } from '../pdu/status-report.ts';
import { decodeSubmit, type Submit } from '../pdu/submit.ts';
import { concatenationOf, textOf, type UserData } from '../pdu/user-data.ts';
import { JournalError, type RackJournal } from '../state/rack-journal.ts';
import {
  type HeardMessage,
  memoriesOf,
  type RackRecord,
  type ReportRequest,
  type WaitingMessage,
} from '../state/rack-state.ts';
import type { Publish } from './event-feed.ts';
import { CARRIER_SERVICE_CENTRE, dialledNumber, NETWORK_OFFSET_QUARTER_HOURS } from './numbering.ts';

/** Messages that wait for one modem; a real service centre also stops somewhere. */
const WAITING_MAX = 10_000;

/** 3GPP TS 24.011 annex E. */
const CAUSE_CONGESTION = 42;
const CAUSE_INVALID_MANDATORY_INFORMATION = 96;

/** What the carrier tells the sender about messages: the fault of the sender's modem decides. */
export interface ReportPolicy {
  status: number | undefined;
  copies: 0 | 1 | 2;
}

/** A modem as the carrier sees it. */
export interface Subscriber {
  readonly imei: string;
  readonly number: string;
  readonly reportPolicy: ReportPolicy;
  /** False: everything waits, without a try. */
  readonly isReachable: boolean;
  /**
   * Takes a message (and journals that, with the records of `also`), or leaves it to wait until the modem
   * calls `Carrier.deliverWaiting`. Throws `JournalError`.
   */
  receive(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later';
}

/** What became of a SUBMIT. */
export type Submission =
  | { kind: 'accepted'; messageReference: number }
  /** `code` is a cause for +CMS ERROR. */
  | { kind: 'refused'; code: number };

/** A message that the carrier does not take from outside. */
export class CarrierError extends Error {
  override name = 'CarrierError';
  readonly code: 'unknown_number' | 'carrier_full';

  constructor(code: CarrierError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A text from somebody who has no modem in the rack. */
export interface OutsideMessage {
  from: string;
  to: string;
  body: string;
  encoding: 'gsm7' | 'ucs2' | undefined;
  referenceBits: 8 | 16;
}

/** What a carrier needs. */
export interface CarrierOptions {
  journal: RackJournal;
  clock: Clock;
  log: Logger;
  publish: Publish;
}

/** The service centre of the rack: accepts, routes, keeps, delivers, reports. */
export class Carrier {
  readonly #journal: RackJournal;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #publish: Publish;
  readonly #byNumber = new Map<string, Subscriber>();
  readonly #byImei = new Map<string, Subscriber>();
  readonly #delivering = new Set<string>();
  #isClosed = false;

  constructor(options: CarrierOptions) {
    this.#journal = options.journal;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#publish = options.publish;
  }

  addSubscriber(subscriber: Subscriber): void {
    this.#byNumber.set(subscriber.number, subscriber);
    this.#byImei.set(subscriber.imei, subscriber);
  }

  /** Ends all deliveries; what waits is in the journal. */
  close(): void {
    this.#isClosed = true;
  }

  /** Oldest first. */
  heard(): Iterable<HeardMessage> {
    return this.#journal.state.heard.values();
  }

  waitingCount(imei: string): number {
    return memoriesOf(this.#journal.state, imei).waiting.size;
  }

  /**
   * Takes a SUBMIT from a modem. Once it is accepted it is in the journal. Throws `JournalError`.
   *
   * @param linePdu as it came over the line, for the record.
   */
  submit(sender: Subscriber, tpdu: Buffer, linePdu: string): Submission {
    const submit = this.#decoded(tpdu, sender);
    const to = submit === undefined ? undefined : dialledNumber(submit.destination);
    if (submit === undefined || to === undefined) {
      return { kind: 'refused', code: CAUSE_INVALID_MANDATORY_INFORMATION };
    }
    const recipient = this.#byNumber.get(to);
    if (recipient !== undefined && this.waitingCount(recipient.imei) >= WAITING_MAX) {
      return { kind: 'refused', code: CAUSE_CONGESTION };
    }
    const heard = this.#heardMessage(sender, submit, { to, linePdu });
    const report = submit.wantsStatusReport ? reportRequestOf(heard, submit.destination) : undefined;
    const records: RackRecord[] = [{ kind: 'heard', message: heard }];
    if (recipient !== undefined) records.push(this.#forward(heard, submit, recipient, report));
    else if (report !== undefined) records.push(...this.#reportRecords(report, heard.id + 1));
    this.#journal.commit(records);
    this.#publish('sms_submitted', { ...heard });
    // After the modem has given its result: reports and copies come later on the air, too.
    setImmediate(() => this.#deliverNew(recipient?.imei ?? sender.imei));
    return { kind: 'accepted', messageReference: heard.message_reference };
  }

  /**
   * Sends a text to a modem, cut into segments when it is long. On return it is in the journal. Throws
   * `PduError` when it cannot be encoded, `CarrierError`, `JournalError`.
   */
  send(message: OutsideMessage): { id: number; segments: number } {
    const id = this.#journal.state.nextId;
    const segments = segmentsOf(message.body, {
      ...(message.encoding === undefined ? {} : { encoding: message.encoding }),
      referenceBits: message.referenceBits,
      reference: id % 2 ** message.referenceBits,
    });
    const recipient = this.#recipient(message.to, segments.length);
    const records = segments.map((userData, index) =>
      waitingRecord({
        id: id + index,
        imei: recipient.imei,
        from: message.from,
        tpdu: this.#deliverOf(message.from, userData, { protocolIdentifier: 0, hasReplyPath: false }),
      }),
    );
    this.#journal.commit(records);
    this.#deliverNew(recipient.imei);
    return { id, segments: segments.length };
  }

  /** Sends a PDU as it is, right or wrong, with the length that the listing shall show. Throws as `send`. */
  sendRaw(to: string, pdu: string, length: number | undefined): { id: number; segments: number } {
    const recipient = this.#recipient(to, 1);
    const id = this.#journal.state.nextId;
    const shown = length ?? plausibleLength(pdu);
    const { imei } = recipient;
    const message: WaitingMessage = { id, imei, kind: 'deliver', from: '', length: shown, pdu };
    this.#journal.commit([{ kind: 'waiting', message }]);
    this.#deliverNew(imei);
    return { id, segments: 1 };
  }

  /** Delivers what waits for a modem, in order, until it takes no more. Called when it might take some. */
  deliverWaiting(imei: string): void {
    const subscriber = this.#byImei.get(imei);
    if (this.#isClosed || subscriber === undefined || this.#delivering.has(imei)) return;
    this.#delivering.add(imei);
    const senders = new Set<string>();
    try {
      const blocked = new Set<WaitingMessage['kind']>();
      for (const message of memoriesOf(this.#journal.state, imei).waiting.values()) {
        // A full store stops the messages behind it, but no reports.
        if (!subscriber.isReachable || blocked.size === 2) break;
        if (blocked.has(message.kind)) continue;
        const outcome = subscriber.receive(message, () => this.#recordsOfDelivery(message));
        if (outcome === 'later') blocked.add(message.kind);
        else if (message.report !== undefined) senders.add(message.report.imei);
      }
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      this.#log.error({ err: error, imei }, 'cannot deliver');
    } finally {
      this.#delivering.delete(imei);
    }
    for (const sender of senders) this.deliverWaiting(sender);
  }

  #deliverNew(imei: string): void {
    this.deliverWaiting(imei);
    const waiting = this.waitingCount(imei);
    if (waiting > 0) this.#publish('sms_waiting', { imei, waiting });
  }

  #recipient(to: string, segments: number): Subscriber {
    const recipient = this.#byNumber.get(to);
    if (recipient === undefined) throw new CarrierError('unknown_number', `no modem has the number ${to}`);
    if (this.waitingCount(recipient.imei) + segments > WAITING_MAX) {
      throw new CarrierError('carrier_full', `${WAITING_MAX} messages already wait for ${to}`);
    }
    return recipient;
  }

  #decoded(tpdu: Buffer, { imei }: Subscriber): Submit | undefined {
    try {
      return decodeSubmit(tpdu);
    } catch (error) {
      if (!(error instanceof PduError)) throw error;
      this.#log.warn({ imei, reason: error.message }, 'refused a message');
      return undefined;
    }
  }

  #heardMessage(
    sender: Subscriber,
    { userData }: Submit,
    { to, linePdu }: { to: string; linePdu: string },
  ): HeardMessage {
    const { state } = this.#journal;
    const concatenation = concatenationOf(userData);
    return {
      id: state.nextId,
      at_ms: this.#clock.now(),
      imei: sender.imei,
      from: sender.number,
      to,
      body: textOf(userData) ?? null,
      encoding: alphabetOf(userData.dataCodingScheme),
      pdu: linePdu,
      message_reference: memoriesOf(state, sender.imei).nextReference,
      concat:
        concatenation === undefined
          ? null
          : {
              reference: concatenation.reference,
              total: concatenation.total,
              part: concatenation.part,
            },
    };
  }

  #forward(
    heard: HeardMessage,
    submit: Submit,
    recipient: Subscriber,
    report: ReportRequest | undefined,
  ): RackRecord {
    const { imei } = recipient;
    const tpdu = this.#deliverOf(heard.from, submit.userData, submit);
    return waitingRecord({ id: heard.id + 1, imei, from: heard.from, tpdu, report });
  }

  /** The user data octets go through as they are: nobody decodes text on the way. */
  #deliverOf(
    originator: string,
    userData: UserData,
    { protocolIdentifier, hasReplyPath }: { protocolIdentifier: number; hasReplyPath: boolean },
  ): Buffer {
    return encodeDeliver({
      originator,
      protocolIdentifier,
      hasReplyPath,
      atMs: this.#clock.now(),
      offsetQuarterHours: NETWORK_OFFSET_QUARTER_HOURS,
      userData,
    });
  }

  #recordsOfDelivery(message: WaitingMessage): RackRecord[] {
    if (message.report === undefined) return [];
    return this.#reportRecords(message.report, this.#journal.state.nextId);
  }

  /** None when the sender's modem has left the rack, or its fault withholds them. */
  #reportRecords(request: ReportRequest, firstId: number): RackRecord[] {
    const sender = this.#byImei.get(request.imei);
    if (sender === undefined) return [];
    const { status = STATUS_DELIVERED, copies } = sender.reportPolicy;
    const tpdu = encodeStatusReport({
      messageReference: request.message_reference,
      recipient: addressFromHex(request.recipient),
      submittedAtMs: request.submitted_at_ms,
      dischargedAtMs: this.#clock.now(),
      offsetQuarterHours: NETWORK_OFFSET_QUARTER_HOURS,
      status,
    });
    return Array.from({ length: copies }, (_, copy) =>
      waitingRecord({
        id: firstId + copy,
        imei: request.imei,
        from: '',
        tpdu,
        kind: 'report',
      }),
    );
  }
}

interface WaitingFields {
  id: number;
  imei: string;
  from: string;
  tpdu: Buffer;
  kind?: WaitingMessage['kind'];
  report?: ReportRequest | undefined;
}

/** The service centre address in front is the carrier's, whatever the modem has set. */
function waitingRecord({ id, imei, from, tpdu, kind = 'deliver', report }: WaitingFields): RackRecord {
  const pdu = linePduOf(CARRIER_SERVICE_CENTRE, tpdu);
  const message = { id, imei, kind, from, length: tpdu.length, pdu };
  return { kind: 'waiting', message: report === undefined ? message : { ...message, report } };
}

function reportRequestOf(heard: HeardMessage, destination: Address): ReportRequest {
  return {
    imei: heard.imei,
    message_reference: heard.message_reference,
    recipient: hexFromOctets(encodeAddress(destination)),
    submitted_at_ms: heard.at_ms,
  };
}

function addressFromHex(hex: string): Address {
  return readAddress(new OctetReader(octetsFromHex(hex)), 'recipient address');
}

/** TPDU octets if the PDU can be read so far; all its octets otherwise. */
function plausibleLength(pdu: string): number {
  try {
    return tpduOfLinePdu(pdu).length;
  } catch (error) {
    if (error instanceof PduError) return Math.floor(pdu.length / 2);
    throw error;
  }
}
