// Receives messages: stores and announces them, or sends them to the terminal directly (3GPP TS 27.005 §3.4).
import type { Clock, Timer } from '#shared/clock.ts';
import type { Memory, ModemSettings } from '../at/settings.ts';
import type { FaultOf, FaultSet } from '../faults/fault-set.ts';
import { tpduOfLinePdu } from '../pdu/address.ts';
import { PduError } from '../pdu/octets.ts';
import type { Publish } from '../state/event-feed.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import type { RackRecord, WaitingMessage } from '../state/records.ts';
import type { MessageStores } from './message-stores.ts';

/** 3GPP TS 24.011 §5.3.2.1: timer TR2N, how long the network waits for an acknowledgement. */
const ACKNOWLEDGEMENT_TIMEOUT_MS = 15_000;
/** Announcements that +CNMI mode 0 holds back. */
const HELD_URCS_MAX = 50;
/** TP-PID of a message that the modem acknowledges and discards (3GPP TS 23.040 §9.2.3.9). */
const PID_TYPE_0 = 0x40;

interface SmsReceiverOptions {
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

export class SmsReceiver {
  readonly #options: SmsReceiverOptions;
  #heldUrcs: { id: number; line: string }[] = [];
  #unacknowledged: Unacknowledged | undefined;
  /** Memories reported as full, until they have room again. */
  #reportedFull = new Set<Memory>();
  /** While it runs, the modem receives nothing. */
  #pause: Timer | undefined;
  /** A slow network has brought one message, which may come in now. */
  #hasArrived = false;

  constructor(options: SmsReceiverOptions) {
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
    // With mode 0 the modem sends nothing to the terminal, so direct routing would lose the message.
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

  /** The modem announces a message that it could not store, and the network tries again. */
  #refuseOnce(message: WaitingMessage): 'later' {
    const retryMs = this.#options.faults.take('cmti')?.retry_ms ?? 0;
    this.#announce(message.id, '+CMTI: ,-1');
    this.#pauseFor(retryMs, () => undefined);
    return 'later';
  }

  #emptySlot(memory: Memory): number {
    return this.#options.stores.freeIndex(memory) ?? this.#options.stores.capacity(memory) + 1;
  }

  /** `AT+CNMA`. Returns false when no message waits for an acknowledgement. */
  acknowledge(isAccepted: boolean): boolean {
    const pending = this.#unacknowledged;
    if (pending === undefined) return false;
    if (isAccepted) this.#take(pending.message, pending.also);
    this.#forgetUnacknowledged();
    if (isAccepted) this.#options.onReady();
    return true;
  }

  /** After a change of +CNMI: sends or drops the announcements that mode 0 held back. */
  onIndicationsSet(): void {
    const { mode, bfr } = this.#options.settings().indications;
    if (mode === 0) return;
    const held = this.#heldUrcs;
    this.#heldUrcs = [];
    if (bfr === 0) for (const { id, line } of held) this.#sendAnnouncement(id, line);
  }

  /** The modem lost its volatile state. The carrier keeps a message that was not acknowledged. */
  restart(): void {
    this.#heldUrcs = [];
    this.#reportedFull.clear();
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
      this.#reportFull(memory);
      return 'later';
    }
    this.#reportedFull.delete(memory);
    const stored = { status: 0, length: message.length, pdu: message.pdu, id: message.id };
    stores.put(memory, index, stored, [takenRecord(message), ...also()]);
    // The event comes before the announcement, so that a test has the id when the line arrives.
    publish('sms_delivered', { id: message.id, imei, kind: message.kind, memory, index });
    const line = announcement(index);
    if (line !== undefined) this.#announce(message.id, line);
    return 'taken';
  }

  #reportFull(memory: Memory): void {
    if (this.#reportedFull.has(memory)) return;
    this.#reportedFull.add(memory);
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

  /**
   * 3GPP TS 27.005 §3.4.4: the modem ends direct routing. The network tries again, and the modem stores the
   * message.
   */
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
      this.#sendAnnouncement(id, line);
      return;
    }
    this.#heldUrcs.push({ id, line });
    if (this.#heldUrcs.length > HELD_URCS_MAX) this.#heldUrcs.shift();
  }

  #sendAnnouncement(id: number, line: string): void {
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
