// What a modem does with a message: stores and announces it, or hands it on (3GPP TS 27.005 §3.4).
import type { Clock, Timer } from '#shared/clock.ts';
import type { Memory, ModemSettings } from '../at/settings.ts';
import type { FaultOf, FaultSet } from '../faults/fault-set.ts';
import { tpduOfLinePdu } from '../pdu/line-pdu.ts';
import { PduError } from '../pdu/octets.ts';
import type { Publish } from '../state/event-feed.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import type { RackRecord, WaitingMessage } from '../state/records.ts';
import type { MessageStores } from './message-stores.ts';

/** 3GPP TS 24.011 §5.3.2.1: timer TR2N, how long the network waits for an acknowledgement. */
const ACKNOWLEDGEMENT_TIMEOUT_MS = 15_000;
/** Announcements that +CNMI mode 0 holds back. */
const HELD_URCS_MAX = 50;
/** TP-PID of a message that is acknowledged and shown to nobody (3GPP TS 23.040 §9.2.3.9). */
const PID_TYPE_0 = 0x40;

/** What an inbox needs from its modem. */
export interface InboxOptions {
  imei: string;
  journal: RackJournal;
  clock: Clock;
  stores: MessageStores;
  faults: FaultSet;
  publish: Publish;
  settings: () => ModemSettings;
  sendUrc: (line: string, options?: { isUrgent: boolean }) => void;
  /** Lines of the make about a store without room. */
  storeFullLines: (memory: Memory) => readonly string[];
  /** The modem might take another message now. */
  onReady: () => void;
}

interface Unacknowledged {
  message: WaitingMessage;
  also: () => RackRecord[];
  timer: Timer;
}

/** The receiving side of one modem. */
export class Inbox {
  readonly #options: InboxOptions;
  #heldUrcs: { id: number; line: string }[] = [];
  #unacknowledged: Unacknowledged | undefined;
  /** Told that it has no room, until it has some. */
  #toldFull = new Set<Memory>();
  /** While it runs nothing is received. */
  #pause: Timer | undefined;
  /** A slow network has brought one message, which may come in now. */
  #hasArrived = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** As `Subscriber.receive` of the carrier. */
  receive(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later' {
    if (!this.#isOffTheAir()) return 'later';
    const outcome =
      message.kind === 'report' ? this.#receiveReport(message, also) : this.#receiveText(message, also);
    if (outcome === 'taken') this.#hasArrived = false;
    return outcome;
  }

  #receiveText(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later' {
    const { indications, receiveMemory } = this.#options.settings();
    if (isTypeZero(message)) return this.#take(message, also);
    // With mode 0 nothing is sent to the terminal, so handing on would lose the message.
    if (indications.mode !== 0 && indications.mt === 2) {
      return this.#handOn(message, also, `+CMT: ,${message.length}\r\n${message.pdu}`);
    }
    const { faults } = this.#options;
    const form = faults.get('cmti')?.form;
    if (form === 'no_memory') return this.#refuseOnce(message);
    const memory = form === 'other_memory' ? otherThan(receiveMemory) : receiveMemory;
    const outcome = this.#store(message, also, memory, (index) =>
      indications.mt === 0
        ? undefined
        : announcementOf(memory, form === 'empty_slot' ? this.#emptySlot(memory) : index, form),
    );
    if (form !== undefined && outcome === 'taken') faults.take('cmti');
    return outcome;
  }

  #receiveReport(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later' {
    const { ds, mode } = this.#options.settings().indications;
    if (ds === 2) {
      const memory = this.#options.faults.get('status_report')?.memory ?? 'SR';
      return this.#store(message, also, memory, (index) => `+CDSI: "${memory}",${index}`);
    }
    if (ds === 1 && mode !== 0) {
      return this.#handOn(message, also, `+CDS: ${message.length}\r\n${message.pdu}`);
    }
    return this.#take(message, also);
  }

  /** A slow network needs its time for each message; `false` while it does. */
  #isOffTheAir(): boolean {
    if (this.#pause !== undefined) return false;
    const delayMs = this.#options.faults.get('slow_network')?.ms ?? 0;
    if (delayMs === 0 || this.#hasArrived) return true;
    this.#pauseFor(delayMs, () => {
      this.#hasArrived = true;
    });
    return false;
  }

  #pauseFor(delayMs: number, then: () => void): void {
    this.#pause = this.#options.clock.after(delayMs, () => {
      this.#pause = undefined;
      then();
      this.#options.onReady();
    });
  }

  /** The modem says that something came which it could not store; the network tries again. */
  #refuseOnce(message: WaitingMessage): 'later' {
    const retryMs = this.#options.faults.take('cmti')?.retry_ms ?? 0;
    this.#announce(message.id, '+CMTI: ,-1');
    this.#pauseFor(retryMs, () => undefined);
    return 'later';
  }

  #emptySlot(memory: Memory): number {
    return this.#options.stores.freeIndex(memory) ?? this.#options.stores.capacity(memory) + 1;
  }

  /** `AT+CNMA`. Returns false when nothing is to be acknowledged. */
  acknowledge(isAccepted: boolean): boolean {
    const pending = this.#unacknowledged;
    if (pending === undefined) return false;
    if (isAccepted) this.#take(pending.message, pending.also);
    this.#forgetUnacknowledged();
    if (isAccepted) this.#options.onReady();
    return true;
  }

  /** After a change of +CNMI: sends or drops what mode 0 held back. */
  onIndicationsSet(): void {
    const { mode, bfr } = this.#options.settings().indications;
    if (mode === 0) return;
    const held = this.#heldUrcs;
    this.#heldUrcs = [];
    if (bfr === 0) for (const { id, line } of held) this.#tell(id, line);
  }

  /** The modem lost its volatile state: what was not acknowledged is still the carrier's. */
  restart(): void {
    this.#heldUrcs = [];
    this.#toldFull.clear();
    this.#pause?.cancel();
    this.#pause = undefined;
    this.#forgetUnacknowledged();
  }

  #take(message: WaitingMessage, also: () => RackRecord[]): 'taken' {
    const { imei, journal, publish } = this.#options;
    journal.commit([takenRecord(message), ...also()]);
    publish('sms_delivered', { id: message.id, imei, kind: message.kind, memory: null, index: null });
    return 'taken';
  }

  #store(
    message: WaitingMessage,
    also: () => RackRecord[],
    memory: Memory,
    announcement: (index: number) => string | undefined,
  ): 'taken' | 'later' {
    const { imei, stores, faults, publish } = this.#options;
    const index = faults.has('store_full') ? undefined : stores.freeIndex(memory);
    if (index === undefined) {
      this.#tellFull(memory);
      return 'later';
    }
    this.#toldFull.delete(memory);
    const stored = { status: 0, length: message.length, pdu: message.pdu, id: message.id };
    stores.put(memory, index, stored, [takenRecord(message), ...also()]);
    // First of all: whoever listens knows of the message before its announcement.
    publish('sms_delivered', { id: message.id, imei, kind: message.kind, memory, index });
    const line = announcement(index);
    if (line !== undefined) this.#announce(message.id, line);
    return 'taken';
  }

  #tellFull(memory: Memory): void {
    if (this.#toldFull.has(memory)) return;
    this.#toldFull.add(memory);
    for (const line of this.#options.storeFullLines(memory)) this.#options.sendUrc(line);
  }

  /** +CSMS=1: the message stays with the carrier until the terminal has acknowledged it. */
  #handOn(message: WaitingMessage, also: () => RackRecord[], line: string): 'taken' | 'later' {
    const { clock, settings } = this.#options;
    if (settings().messageService === 0) {
      this.#take(message, also);
      this.#announce(message.id, line);
      return 'taken';
    }
    if (this.#unacknowledged !== undefined) return 'later';
    const timer = clock.after(ACKNOWLEDGEMENT_TIMEOUT_MS, () => this.#onNotAcknowledged());
    this.#unacknowledged = { message, also, timer };
    this.#announce(message.id, line);
    return 'later';
  }

  /** 3GPP TS 27.005 §3.4.4: the modem stops handing on; the network tries again and it is stored. */
  #onNotAcknowledged(): void {
    this.#forgetUnacknowledged();
    const { indications } = this.#options.settings();
    if (indications.mt === 2) indications.mt = 1;
    if (indications.ds === 1) indications.ds = 0;
    this.#options.onReady();
  }

  #forgetUnacknowledged(): void {
    this.#unacknowledged?.timer.cancel();
    this.#unacknowledged = undefined;
  }

  #announce(id: number, line: string): void {
    if (this.#options.faults.take('urc_lost') !== undefined) return;
    if (this.#options.settings().indications.mode !== 0) {
      this.#tell(id, line);
      return;
    }
    this.#heldUrcs.push({ id, line });
    if (this.#heldUrcs.length > HELD_URCS_MAX) this.#heldUrcs.shift();
  }

  #tell(id: number, line: string): void {
    const { imei, publish, sendUrc, faults } = this.#options;
    sendUrc(line, { isUrgent: faults.get('status_report')?.before_result === true });
    publish('sms_announced', { id, imei, line: line.replace(/\r.*/s, '') });
  }
}

function takenRecord({ id, iccid, kind }: WaitingMessage): RackRecord {
  return { kind: 'taken', iccid, message_kind: kind, waiting_id: id };
}

function announcementOf(memory: Memory, index: number, form: FaultOf<'cmti'>['form'] | undefined): string {
  return `+CMTI: "${memory}",${index}${form === 'mms_push' ? ',"MMS PUSH",2,1' : ''}`;
}

function otherThan(memory: Memory): Memory {
  return memory === 'SM' ? 'ME' : 'SM';
}

function isTypeZero(message: WaitingMessage): boolean {
  try {
    const tpdu = tpduOfLinePdu(message.pdu);
    const addressDigits = tpdu[1] ?? 0;
    return tpdu[3 + Math.ceil(addressDigits / 2)] === PID_TYPE_0;
  } catch (error) {
    if (error instanceof PduError) return false;
    throw error;
  }
}
