// What a modem does with a message: stores and announces it, or hands it on (3GPP TS 27.005 §3.4).
import type { Clock, Timer } from '#shared/clock.ts';
import type { Publish } from '../carrier/event-feed.ts';
import { tpduOfLinePdu } from '../pdu/line-pdu.ts';
import { PduError } from '../pdu/octets.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import type { RackRecord, WaitingMessage } from '../state/rack-state.ts';
import type { FaultSet } from './faults.ts';
import type { MessageStores } from './message-stores.ts';
import type { Memory, ModemSettings } from './settings.ts';

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
  sendUrc: (line: string) => void;
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
  #heldUrcs: string[] = [];
  #unacknowledged: Unacknowledged | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** As `Subscriber.receive` of the carrier. */
  receive(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later' {
    if (message.kind === 'report') return this.#receiveReport(message, also);
    const { indications, receiveMemory } = this.#options.settings();
    if (isTypeZero(message)) return this.#take(message, also);
    // With mode 0 nothing is sent to the terminal, so handing on would lose the message.
    if (indications.mode !== 0 && indications.mt === 2) {
      return this.#handOn(message, also, `+CMT: ,${message.length}\r\n${message.pdu}`);
    }
    const announcement = indications.mt === 0 ? undefined : '+CMTI';
    return this.#store(message, also, { memory: receiveMemory, announcement });
  }

  #receiveReport(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later' {
    const { ds, mode } = this.#options.settings().indications;
    if (ds === 2) return this.#store(message, also, { memory: 'SR', announcement: '+CDSI' });
    if (ds === 1 && mode !== 0) {
      return this.#handOn(message, also, `+CDS: ${message.length}\r\n${message.pdu}`);
    }
    return this.#take(message, also);
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
    if (bfr === 0) for (const line of held) this.#options.sendUrc(line);
  }

  /** The modem lost its volatile state: what was not acknowledged is still the carrier's. */
  restart(): void {
    this.#heldUrcs = [];
    this.#forgetUnacknowledged();
  }

  #take(message: WaitingMessage, also: () => RackRecord[]): 'taken' {
    const { imei, journal, publish } = this.#options;
    journal.commit([{ kind: 'taken', imei, waiting_id: message.id }, ...also()]);
    publish('sms_delivered', { id: message.id, imei, kind: message.kind, memory: null, index: null });
    return 'taken';
  }

  #store(
    message: WaitingMessage,
    also: () => RackRecord[],
    { memory, announcement }: { memory: Memory; announcement: string | undefined },
  ): 'taken' | 'later' {
    const { imei, stores, faults, publish } = this.#options;
    const index = faults.get('store_full') === undefined ? stores.freeIndex(memory) : undefined;
    if (index === undefined) return 'later';
    const stored = { status: 0, length: message.length, pdu: message.pdu };
    stores.put(memory, index, stored, { waitingId: message.id, also: also() });
    if (announcement !== undefined) this.#announce(`${announcement}: "${memory}",${index}`);
    publish('sms_delivered', { id: message.id, imei, kind: message.kind, memory, index });
    return 'taken';
  }

  /** +CSMS=1: the message stays with the carrier until the terminal has acknowledged it. */
  #handOn(message: WaitingMessage, also: () => RackRecord[], line: string): 'taken' | 'later' {
    const { clock, settings } = this.#options;
    if (settings().messageService === 0) {
      this.#take(message, also);
      this.#announce(line);
      return 'taken';
    }
    if (this.#unacknowledged !== undefined) return 'later';
    const timer = clock.after(ACKNOWLEDGEMENT_TIMEOUT_MS, () => this.#onNotAcknowledged());
    this.#unacknowledged = { message, also, timer };
    this.#announce(line);
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

  #announce(line: string): void {
    if (this.#options.faults.take('urc_lost') !== undefined) return;
    if (this.#options.settings().indications.mode !== 0) {
      this.#options.sendUrc(line);
      return;
    }
    this.#heldUrcs.push(line);
    if (this.#heldUrcs.length > HELD_URCS_MAX) this.#heldUrcs.shift();
  }
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
