// The network between the modems: takes what they submit, routes it, and keeps what cannot be delivered yet.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { mmsSegments, type WaitingMms } from '../pdu/mms-push.ts';
import { PduError } from '../pdu/octets.ts';
import { segmentsOf } from '../pdu/segments.ts';
import { decodeSubmit, type Submit } from '../pdu/submit.ts';
import { alphabetOf, type Concatenation, concatenationOf, textOf, type UserData } from '../pdu/user-data.ts';
import type { Publish } from '../state/event-feed.ts';
import { JournalError, type RackJournal } from '../state/rack-journal.ts';
import { modemMemoriesOf, simMemoriesOf } from '../state/rack-state.ts';
import type { HeardMessage, RackRecord, ReportRequest, WaitingMessage } from '../state/records.ts';
import { dialledNumber, MMS_CENTRE } from './numbering.ts';
import { type Subscriber, type Subscription, USUAL_REPORTS, USUAL_TIME } from './subscriber.ts';
import { reportRequestOf, writtenDeliver, writtenRaw, writtenReports } from './written-messages.ts';

/** Most messages that wait for one card; a real service center has a limit too. */
const WAITING_MAX = 10_000;

/** 3GPP TS 24.011 annex E. */
const CAUSE_CONGESTION = 42;
const CAUSE_INVALID_MANDATORY_INFORMATION = 96;

/** The outcome of a SUBMIT. */
export type Submission =
  | { kind: 'accepted'; messageReference: number }
  /** `code` is a cause for +CMS ERROR. */
  | { kind: 'refused'; code: number };

/** The carrier refuses a message from outside. */
export class CarrierError extends Error {
  override name = 'CarrierError';
  readonly code: 'unknown_number' | 'carrier_full';

  constructor(code: CarrierError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** An MMS from a sender outside of the rack. Its `transaction` is new by default; the same one again is a repetition. */
interface OutsideMms extends Omit<WaitingMms, 'location' | 'transaction'> {
  to: string;
  transaction?: string | undefined;
}

/** A text from a sender outside of the rack. */
interface OutsideMessage {
  from: string;
  to: string;
  body: string;
  /** Default: 7 bit when the alphabet has every character, UCS-2 otherwise. */
  encoding?: 'gsm7' | 'ucs2' | undefined;
  referenceBits?: 8 | 16;
}

interface CarrierOptions {
  journal: RackJournal;
  clock: Clock;
  log: Logger;
  publish: Publish;
}

/** The service center of the rack: accepts, routes, keeps, delivers, reports. */
export class Carrier {
  readonly #options: CarrierOptions;
  readonly #byNumber = new Map<string, Subscription>();
  /** Modems by the ICCID of the card in them. */
  readonly #holders = new Map<string, Subscriber>();
  readonly #delivering = new Set<string>();
  #isClosed = false;

  constructor(options: CarrierOptions) {
    this.#options = options;
  }

  /** The number is that of this card from now on: an earlier card of it has no service any more. */
  addSubscription(subscription: Subscription): void {
    this.#byNumber.set(subscription.number, subscription);
  }

  /** The card that has the number. */
  subscriptionOf(number: string): Subscription | undefined {
    return this.#byNumber.get(number);
  }

  /** Whether the network knows the card: no later one has its number. */
  isSubscribed({ iccid, number }: Subscription): boolean {
    return this.#byNumber.get(number)?.iccid === iccid;
  }

  /** A card is in this modem now; without a modem everything for it waits. */
  setHolder(iccid: string, holder: Subscriber | undefined): void {
    if (holder === undefined) this.#holders.delete(iccid);
    else this.#holders.set(iccid, holder);
  }

  /** The modem that a number leads to: null when its card is in none, `undefined` when no card has it. */
  subscriberOf(number: string): Subscriber | null | undefined {
    const subscription = this.#byNumber.get(number);
    return subscription && (this.#holders.get(subscription.iccid) ?? null);
  }

  /** Ends all deliveries; what waits is in the journal. */
  close(): void {
    this.#isClosed = true;
  }

  /** Messages that modems sent, oldest first; with `afterId` only those after that one. */
  heard(afterId = 0): HeardMessage[] {
    return this.#options.journal.state.heard.after(afterId);
  }

  /** Messages and reports that wait for a card. */
  waitingCount(iccid: string): number {
    const { deliver, report } = simMemoriesOf(this.#options.journal.state, iccid).waiting;
    return deliver.size + report.size;
  }

  /**
   * Takes a SUBMIT from a modem. Once it is accepted it is in the journal. Throws `JournalError`.
   *
   * @param linePdu as it came over the line, for the record.
   */
  submit(sender: { modem: Subscriber; sim: Subscription }, tpdu: Buffer, linePdu: string): Submission {
    const submit = this.#decoded(tpdu, sender.modem);
    const to = submit === undefined ? undefined : dialledNumber(submit.destination);
    if (submit === undefined || to === undefined) {
      return { kind: 'refused', code: CAUSE_INVALID_MANDATORY_INFORMATION };
    }
    const recipient = this.#byNumber.get(to);
    if (recipient !== undefined && this.waitingCount(recipient.iccid) >= WAITING_MAX) {
      return { kind: 'refused', code: CAUSE_CONGESTION };
    }
    const heard = this.#heardMessage(sender, submit, { to, linePdu });
    const report = submit.wantsStatusReport ? reportRequestOf(heard, submit.destination) : undefined;
    const records: RackRecord[] = [{ kind: 'heard', message: heard }];
    if (recipient !== undefined) records.push(this.#forward(heard, submit, recipient.iccid, report));
    else if (report !== undefined) records.push(...this.#reportRecords(report, heard.id + 1));
    this.#options.journal.commit(records);
    this.#options.publish('sms_submitted', { ...heard });
    const iccid = recipient?.iccid ?? sender.sim.iccid;
    // After the modem has given its result: reports and copies come later on the air, too.
    if (sender.modem.reportPolicy.comesBeforeResult) this.#deliverNew(iccid);
    else if (records.length > 1) setImmediate(() => this.#deliverNew(iccid));
    return { kind: 'accepted', messageReference: heard.message_reference };
  }

  /**
   * Sends a text to a modem, cut into segments when it is long. On return it is in the journal. Throws
   * `PduError` when it cannot be encoded, `CarrierError`, `JournalError`.
   */
  send({ from, to, body, encoding, referenceBits = 8 }: OutsideMessage): { id: number; segments: number } {
    const id = this.#options.journal.state.nextId;
    return this.#sendSegments(
      { from, to },
      segmentsOf(body, { encoding, referenceBits, reference: id % 2 ** referenceBits }),
    );
  }

  /** Announces an MMS to a modem. Throws as `send`. */
  announceMms({ to, transaction, ...mms }: OutsideMms): { id: number; segments: number } {
    const id = this.#options.journal.state.nextId;
    const name = transaction ?? `mms-${id}-${this.#options.clock.now()}`;
    const location = `http://mms.carrier.example/servlets/${encodeURIComponent(name)}`;
    return this.#sendSegments(
      { from: MMS_CENTRE, to },
      mmsSegments({ ...mms, transaction: name, location }, id),
    );
  }

  #sendSegments(
    { from, to }: { from: string; to: string },
    segments: UserData[],
  ): { id: number; segments: number } {
    const id = this.#options.journal.state.nextId;
    const { iccid } = this.#recipient(to, segments.length);
    const records = segments.map((userData, index) =>
      writtenDeliver({
        id: id + index,
        iccid,
        from,
        userData,
        protocolIdentifier: 0,
        hasReplyPath: false,
        ...this.#timeFor(iccid),
      }),
    );
    this.#options.journal.commit(records);
    this.#deliverNew(iccid);
    return { id, segments: segments.length };
  }

  /** Sends a PDU unchanged, valid or not. `length` is the one that a listing shows. Throws as `send`. */
  sendRaw(to: string, pdu: string, length: number | undefined): { id: number; segments: number } {
    const { iccid } = this.#recipient(to, 1);
    const id = this.#options.journal.state.nextId;
    this.#options.journal.commit([writtenRaw(id, iccid, pdu, length)]);
    this.#deliverNew(iccid);
    return { id, segments: 1 };
  }

  /** Delivers what waits for a card, in order, until its modem takes no more. Called when it might take some. */
  deliverWaiting(iccid: string): void {
    const holder = this.#holders.get(iccid);
    if (this.#isClosed || holder === undefined || this.#delivering.has(iccid)) return;
    this.#delivering.add(iccid);
    const senders = new Set<string>();
    try {
      const { deliver, report } = simMemoriesOf(this.#options.journal.state, iccid).waiting;
      for (const queue of [deliver, report]) this.#deliverQueue(queue, holder, senders);
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      this.#options.log.error({ err: error, iccid }, 'cannot deliver');
    } finally {
      this.#delivering.delete(iccid);
    }
    for (const sender of senders) this.deliverWaiting(sender);
  }

  #deliverQueue(queue: Map<number, WaitingMessage>, holder: Subscriber, senders: Set<string>): void {
    for (const message of queue.values()) {
      if (!holder.isReachable) return;
      if (holder.receive(message, () => this.#recordsOfDelivery(message)) === 'later') return;
      if (message.report !== undefined) senders.add(message.report.iccid);
    }
  }

  #deliverNew(iccid: string): void {
    this.deliverWaiting(iccid);
    const waiting = this.waitingCount(iccid);
    if (waiting === 0) return;
    this.#options.publish('sms_waiting', { imei: this.#holders.get(iccid)?.imei ?? null, iccid, waiting });
  }

  #recipient(to: string, segments: number): Subscription {
    const recipient = this.#byNumber.get(to);
    if (recipient === undefined) throw new CarrierError('unknown_number', `no modem has the number ${to}`);
    if (this.waitingCount(recipient.iccid) + segments > WAITING_MAX) {
      throw new CarrierError('carrier_full', `${WAITING_MAX} messages already wait for ${to}`);
    }
    return recipient;
  }

  #decoded(tpdu: Buffer, { imei }: Subscriber): Submit | undefined {
    try {
      return decodeSubmit(tpdu);
    } catch (error) {
      if (!(error instanceof PduError)) throw error;
      this.#options.log.warn({ imei, reason: error.message }, 'refused a message');
      return undefined;
    }
  }

  #heardMessage(
    { modem, sim }: { modem: Subscriber; sim: Subscription },
    { userData }: Submit,
    { to, linePdu }: { to: string; linePdu: string },
  ): HeardMessage {
    const { state } = this.#options.journal;
    const concatenation = concatenationOf(userData);
    return {
      id: state.nextId,
      at_ms: this.#options.clock.now(),
      imei: modem.imei,
      iccid: sim.iccid,
      from: sim.number,
      to,
      body: textOf(userData) ?? null,
      encoding: alphabetOf(userData.dataCodingScheme),
      pdu: linePdu,
      message_reference: modem.fixedReference ?? modemMemoriesOf(state, modem.imei).nextReference,
      concat: concatenation === undefined ? null : concatOf(concatenation),
    };
  }

  #forward(
    heard: HeardMessage,
    { userData, protocolIdentifier, hasReplyPath }: Submit,
    iccid: string,
    report: ReportRequest | undefined,
  ): RackRecord {
    return writtenDeliver({
      id: heard.id + 1,
      iccid,
      from: heard.from,
      userData,
      protocolIdentifier,
      hasReplyPath,
      report,
      ...this.#timeFor(iccid),
    });
  }

  #timeFor(iccid: string) {
    return { atMs: this.#options.clock.now(), time: this.#holders.get(iccid)?.timePolicy ?? USUAL_TIME };
  }

  #recordsOfDelivery(message: WaitingMessage): RackRecord[] {
    if (message.report === undefined) return [];
    return this.#reportRecords(message.report, this.#options.journal.state.nextId);
  }

  #reportRecords(request: ReportRequest, firstId: number): RackRecord[] {
    const { atMs, time } = this.#timeFor(request.iccid);
    const policy = this.#holders.get(request.iccid)?.reportPolicy ?? USUAL_REPORTS;
    return writtenReports(request, { firstId, atMs }, { policy, time });
  }
}

function concatOf({ reference, total, part }: Concatenation): NonNullable<HeardMessage['concat']> {
  return { reference, total, part };
}
