// The mobile equipment (3GPP TS 27.007 §4) that AT commands act on: SIM, message stores, radio, calls, settings.
import type { Clock } from '#shared/clock.ts';
import { defaultModemSettings, type Memory, type ModemSettings } from '../at/settings.ts';
import type { Carrier, Submission } from '../carrier/carrier.ts';
import type { ReportPolicy, Subscriber, TimePolicy } from '../carrier/subscriber.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import type { Publish } from '../state/event-feed.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import type { RackRecord, StoredMessage, WaitingMessage } from '../state/records.ts';
import type { HostDevice } from '../voice/host-audio.ts';
import { Voice, type VoiceNetwork, type VoiceTraits } from '../voice/voice.ts';
import { Boot } from './boot.ts';
import type { ModemIdentity, SimIdentity } from './identity.ts';
import { type Capacities, MessageStores } from './message-stores.ts';
import type { ModemModel } from './modem-model.ts';
import { capacitiesUnder, reportPolicyUnder, timePolicyUnder } from './policies.ts';
import { Radio } from './radio.ts';
import type { Registration } from './registration.ts';
import type { SimCard } from './sim-card.ts';
import { SimReader } from './sim-reader.ts';
import { SmsReceiver } from './sms-receiver.ts';
import { StoredSettings } from './stored-settings.ts';

/** How it behaves while no fault is on. */
export interface EquipmentTraits extends VoiceTraits {
  /** Time that each message takes on the air. */
  sendDelayMs: number;
  /** From the start of the modem until it can handle messages. */
  messagingAfterMs: number;
  capacities: Capacities;
  /** Code of the network at home: 5 or 6 digits. */
  homeNetwork: string;
}

interface MobileEquipmentOptions extends VoiceNetwork {
  identity: ModemIdentity;
  model: ModemModel;
  traits: EquipmentTraits;
  faults: FaultSet;
  journal: RackJournal;
  carrier: Carrier;
  clock: Clock;
  publish: Publish;
  /** The ports are open and the modem answers. */
  isOn: () => boolean;
  /** `isUrgent`: in front of the answer that is being given. */
  sendUrc: (line: string, options?: { isUrgent: boolean }) => void;
  /** The serial port of the voice, while there is one. */
  voicePort: () => HostDevice | undefined;
  /** The sound card, while there is one. */
  soundCard: () => HostDevice | undefined;
  /** A command restarts the modem. */
  restart: () => void;
  /** A command switched the radio on again. */
  onRadioOn: () => void;
}

/** One for each modem. Without a card and without power at first. */
export class MobileEquipment implements Subscriber {
  readonly model: ModemModel;
  readonly faults: FaultSet;
  readonly sim: SimReader;
  readonly stores: MessageStores;
  readonly smsReceiver: SmsReceiver;
  readonly radio: Radio;
  /** Calls and their voice. */
  readonly voice: Voice;
  readonly flash = new StoredSettings();
  settings: ModemSettings = defaultModemSettings();
  readonly #options: MobileEquipmentOptions;
  readonly #boot: Boot;
  #hasStarted = false;

  constructor(options: MobileEquipmentOptions) {
    const { clock, faults, identity, journal, model, publish, traits } = options;
    const { imei } = identity;
    const settings = (): ModemSettings => this.settings;
    const sendUrc = (line: string): void => this.sendUrc(line);
    const onReady = (): void => this.wakeCarrier();
    this.#options = options;
    this.model = model;
    this.faults = faults;
    this.sim = new SimReader(model.lines, sendUrc);
    this.#boot = new Boot({
      clock,
      sim: this.sim,
      lines: model.lines,
      messagingAfterMs: traits.messagingAfterMs,
      sendUrc,
      onMessagingReady: onReady,
    });
    this.stores = new MessageStores({
      journal,
      imei,
      sim: () => this.sim.card?.identity.iccid,
      capacities: () => capacitiesUnder(faults, traits.capacities),
    });
    this.radio = new Radio({
      faults,
      clock,
      settings,
      isSimReady: () => this.sim.state === 'ready',
      isSubscribed: () => {
        const { card } = this.sim;
        return card === undefined || options.carrier.isSubscribed(card.identity);
      },
      sendDelayMs: traits.sendDelayMs,
      sendUrc,
      signalLines: (rssi) => model.lines.signal(rssi, this.settings),
      onReady,
    });
    this.voice = new Voice({
      ...options,
      imei,
      make: model.voice,
      network: options.callSwitch,
      settings,
      number: () => this.number,
      isInService: () => this.#isInService,
      now: () => this.now(),
      port: options.voicePort,
      card: options.soundCard,
    });
    this.smsReceiver = new SmsReceiver({
      imei,
      journal,
      clock,
      stores: this.stores,
      faults,
      publish,
      settings,
      sendUrc: options.sendUrc,
      storeFullLines: (memory) => model.lines.storeFull(memory, this.settings),
      onReady,
    });
  }

  get imei(): string {
    return this.#options.identity.imei;
  }

  /** With that of the card in it; those fields are empty without a card. */
  get identity(): ModemIdentity & SimIdentity {
    const noCard = { iccid: '', imsi: '', number: '' };
    return { ...this.#options.identity, ...(this.sim.card?.identity ?? noCard) };
  }

  /** Number of the inserted card; empty without one. */
  get number(): string {
    return this.identity.number;
  }

  /** Code of the network, MCC and MNC. */
  get homeNetwork(): string {
    return this.#options.traits.homeNetwork;
  }

  get registration(): Registration {
    return this.radio.registration;
  }

  get isReachable(): boolean {
    return this.#isInService && this.#boot.isMessagingReady;
  }

  get isMessagingReady(): boolean {
    return this.#boot.isMessagingReady;
  }

  get hasSoundCard(): boolean {
    return this.#options.soundCard() !== undefined;
  }

  /** Aborted when the modem loses power or restarts. */
  get signal(): AbortSignal {
    return this.#boot.signal;
  }

  get reportPolicy(): ReportPolicy {
    return reportPolicyUnder(this.faults);
  }

  get timePolicy(): TimePolicy {
    return timePolicyUnder(this.faults, this.#options.clock.now());
  }

  get fixedReference(): number | undefined {
    return this.faults.get('message_reference')?.value;
  }

  get #isInService(): boolean {
    return this.#options.isOn() && this.radio.isRegistered;
  }

  /** The modem has power, or has restarted. Its first start sends no boot lines: it happened long ago. */
  start(): void {
    this.flash.start({ isLost: this.faults.has('settings_lost') });
    this.radio.startSearch();
    this.#boot.start({ isAnnounced: this.#hasStarted });
    this.#hasStarted = true;
    this.onConditionsChanged();
  }

  /** The modem loses power or restarts: settings, calls and unfinished work are lost. */
  loseVolatileState(): void {
    this.#boot.stop();
    this.voice.restart();
    this.settings = defaultModemSettings();
    this.smsReceiver.restart();
  }

  /** As `ModemOptions.restart`. */
  restart(): void {
    this.#options.restart();
  }

  /** The card follows the fault `sim`. */
  followSimFault(): void {
    this.sim.follow(this.faults.get('sim'));
  }

  /** Replaces the card. With `isAnnounced` the modem notices and reports it. */
  insertCard(card: SimCard | undefined, { isAnnounced }: { isAnnounced: boolean }): void {
    if (isAnnounced && this.sim.card !== undefined) this.sim.reportRemoved();
    this.smsReceiver.restart();
    this.voice.calls.drop({ isReported: isAnnounced });
    this.sim.insert(card);
    if (isAnnounced && this.sim.state === 'ready') this.sim.reportInserted();
    this.#options.publish('sim_changed', { imei: this.imei, iccid: card?.identity.iccid ?? null });
    this.onConditionsChanged();
  }

  /** +CFUN. */
  setFunctionality(level: number): void {
    const wasOff = this.settings.functionality !== 1;
    this.settings.functionality = level;
    if (wasOff && level === 1) {
      this.radio.startSearch();
      this.#options.onRadioOn();
    }
    this.onConditionsChanged();
  }

  /** Sends an unsolicited result code to the ports that settings and faults choose. */
  sendUrc(line: string): void {
    this.#options.sendUrc(line);
  }

  /** Publishes that a command listed messages. */
  publishListed(
    memory: Memory,
    messages: readonly (readonly [index: number, message: StoredMessage])[],
  ): void {
    if (messages.length === 0) return;
    const entries = messages.map(([index, { id }]) => ({ index, id: id ?? null }));
    this.#options.publish('sms_listed', { imei: this.imei, memory, entries });
  }

  /** Deletes messages and lets the carrier deliver into the free slots. Throws `JournalError`. */
  removeMessages(memory: Memory, indexes: readonly number[]): void {
    if (indexes.length === 0) return;
    const ids = indexes.map((index) => this.stores.get(memory, index)?.id ?? null);
    this.stores.remove(memory, indexes);
    this.#options.publish('sms_deleted', { imei: this.imei, memory, indexes, ids });
    this.wakeCarrier();
  }

  /** The time of the network, in milliseconds since the epoch. */
  now(): number {
    return this.#options.clock.now() + this.timePolicy.shiftMs;
  }

  receive(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later' {
    return this.smsReceiver.receive(message, also);
  }

  /** The carrier tries again to deliver: there is room, or a network, again. */
  wakeCarrier(): void {
    const { card } = this.sim;
    if (card !== undefined) this.#options.carrier.deliverWaiting(card.identity.iccid);
  }

  /**
   * Sends a message over the air, one after another, each with the send delay. Returns `undefined` when the
   * modem lost power or its card before the message was out. Throws or rejects with `JournalError`.
   */
  transmit(tpdu: Buffer, linePdu: string): Submission | undefined | Promise<Submission | undefined> {
    return this.radio.whenOut(this.signal, () => {
      const { card } = this.sim;
      return card && this.#options.carrier.submit({ modem: this, sim: card.identity }, tpdu, linePdu);
    });
  }

  /** After anything has changed that registration depends on. */
  onConditionsChanged(): void {
    this.voice.onConditionsChanged();
    this.radio.onConditionsChanged();
  }
}
