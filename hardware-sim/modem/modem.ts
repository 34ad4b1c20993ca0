// One simulated modem: its plug, its card, its commands, its place on the network, its faults.
import type { Submission } from '../carrier/carrier.ts';
import type { ReportPolicy, Subscriber, TimePolicy } from '../carrier/subscriber.ts';
import type { Make } from '../makes/make.ts';
import type { RackRecord, StoredMessage, WaitingMessage } from '../state/records.ts';
import type { Behaviour } from './behaviour.ts';
import { Boot } from './boot.ts';
import { CardNews } from './card-news.ts';
import type { CommandMatch } from './command-record.ts';
import { Dialogue } from './dialogue.ts';
import { type Fault, FaultSet } from './faults.ts';
import type { ModemIdentity, SimIdentity } from './identity.ts';
import { Inbox } from './inbox.ts';
import { MessageStores } from './message-stores.ts';
import type { ModemOptions } from './modem-options.ts';
import type { PortPaths } from './modem-ports.ts';
import { type ModemState, modemStateOf } from './modem-state.ts';
import { capacitiesUnder, reportPolicyUnder, timePolicyUnder } from './policies.ts';
import { Power } from './power.ts';
import { Radio } from './radio.ts';
import type { Registration } from './registration.ts';
import { defaultModemSettings, type Memory, type ModemSettings } from './settings.ts';
import type { SimCard } from './sim-card.ts';
import { SimReader } from './sim-reader.ts';
import { type CuringStep, Stuck } from './stuck.ts';
import type { TtyView } from './usb-plug.ts';
import { Voice } from './voice/voice.ts';

/** A modem in a slot of the rack. Unplugged and without a card at first. */
export class SimulatedModem implements Subscriber {
  readonly faults: FaultSet;
  readonly sim = new SimReader();
  readonly stores: MessageStores;
  readonly inbox: Inbox;
  readonly radio: Radio;
  /** Plugging in, pulling out, restarting. */
  readonly power: Power;
  /** Calls and their voice. */
  readonly voice: Voice;
  settings: ModemSettings = defaultModemSettings();
  readonly #options: ModemOptions;
  readonly #dialogue: Dialogue;
  readonly #boot: Boot;
  readonly #stuck: Stuck;
  readonly #cardNews: CardNews;
  #wasPluggedIn = false;

  constructor(options: ModemOptions) {
    const { clock, portClock, make, journal, publish } = options;
    const settings = (): ModemSettings => this.settings;
    const sendUrc = (line: string): void => this.sendUrc(line);
    this.#options = options;
    this.faults = new FaultSet(clock, () => this.#onFaultsChanged());
    const { faults } = this;
    this.#cardNews = new CardNews(make.lines, sendUrc);
    this.#dialogue = new Dialogue({
      ...options,
      modem: this,
      isDeaf: () => this.#isDeaf,
      onUnheard: (bytes) => this.#stuck.hear(bytes),
      onVoice: (bytes) => this.voice.line.hear(bytes),
      signal: () => this.#boot.signal,
    });
    this.#stuck = new Stuck({
      faults,
      clock: portClock,
      portPaths: () => (this.#dialogue.ports.areOpen ? [this.portPaths.at, this.portPaths.at2] : []),
      restart: () => this.restart(),
      onCured: (by) => publish('fault_cured', { imei: this.imei, kind: 'stuck', by }),
    });
    this.power = new Power({
      ...options,
      ...options.traits,
      slot: options.identity.slot,
      description: () => (this.voice.stored.usbAudio ? make.usbWithSound : undefined) ?? make.usb,
      ports: this.#dialogue.ports,
      faults,
      onUp: (step) => this.#onUp(step),
      onDown: () => this.#onDown(),
    });
    this.#boot = new Boot({
      clock,
      sim: this.sim,
      lines: make.lines,
      messagingAfterMs: options.traits.messagingAfterMs,
      sendUrc,
      onMessagingReady: () => this.wakeCarrier(),
    });
    this.stores = new MessageStores({
      journal,
      imei: options.identity.imei,
      sim: () => this.sim.card?.identity.iccid,
      capacities: () => capacitiesUnder(faults, options.traits.capacities),
    });
    this.radio = new Radio({
      faults,
      clock,
      settings,
      isSimReady: () => this.sim.state === 'ready',
      sendDelayMs: options.traits.sendDelayMs,
      sendUrc,
      signalLines: (rssi) => make.lines.signal(rssi, this.settings),
      onReady: () => this.wakeCarrier(),
    });
    this.voice = new Voice({
      ...options,
      imei: options.identity.imei,
      network: options.callSwitch,
      faults,
      settings,
      number: () => this.number,
      isInService: () => this.#isInService,
      now: () => this.now(),
      sendUrc: (line, urgency) => this.#dialogue.urcs.send(line, urgency),
      port: () => this.#dialogue.ports.voicePort,
      card: () => this.power.soundCard,
    });
    this.inbox = new Inbox({
      imei: options.identity.imei,
      journal,
      clock,
      stores: this.stores,
      faults,
      publish,
      settings,
      sendUrc: (line, urgency) => this.#dialogue.urcs.send(line, urgency),
      storeFullLines: (memory) => make.lines.storeFull(memory, this.settings),
      onReady: () => this.wakeCarrier(),
    });
  }

  // Who and where it is

  get imei(): string {
    return this.#options.identity.imei;
  }

  /** With those of the card in it; empty without one. */
  get identity(): ModemIdentity & SimIdentity {
    const noCard = { iccid: '', imsi: '', number: '' };
    return { ...this.#options.identity, ...(this.sim.card?.identity ?? noCard) };
  }

  get slot(): string {
    return this.#options.identity.slot;
  }

  /** Of the card in it; empty without one. */
  get number(): string {
    return this.identity.number;
  }

  get make(): Make {
    return this.#options.make;
  }

  /** First part of the names of its links: the slot's, or where it came back. */
  get linkName(): string {
    return this.power.linkName;
  }

  /** Its place on the bus and its terminals there. */
  get usb(): { path: string; ttys: TtyView[] } {
    return this.power.usb;
  }

  /** Absolute paths of the links; they exist while the modem is plugged in. */
  get portPaths(): PortPaths {
    return this.#dialogue.ports.pathsOf(this.linkName);
  }

  // How it is

  get registration(): Registration {
    return this.radio.registration;
  }

  get isReachable(): boolean {
    return this.#isInService && this.#boot.isMessagingReady;
  }

  get isMessagingReady(): boolean {
    return this.#boot.isMessagingReady;
  }

  get state(): ModemState {
    return modemStateOf({
      plug: this.power.state,
      isDeaf: this.#isDeaf,
      sim: this.sim.state,
      registration: this.registration,
    });
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
    return this.#dialogue.ports.areOpen && !this.#isDeaf && this.radio.isRegistered;
  }

  get #isDeaf(): boolean {
    return this.faults.has('silent') || this.#stuck.isDeaf;
  }

  // Tests

  /** The last command lines on both ports, oldest first. */
  get commandLines(): readonly string[] {
    return this.#dialogue.record.lines;
  }

  clearCommandLines(): void {
    this.#dialogue.record.clear();
  }

  /** As `CommandRecord.expect`. */
  expectCommand(match: CommandMatch, { timeoutMs }: { timeoutMs: number }): Promise<string> {
    return this.#dialogue.record.expect(match, timeoutMs);
  }

  /** Puts a behaviour in front of the others. */
  define(behaviour: Behaviour): void {
    this.#dialogue.define(behaviour);
  }

  // Power and faults

  /** As `Power.restart`. */
  restart(): void {
    this.#options.publish('modem_reset', { imei: this.imei });
    this.power.restart();
  }

  /** Restarts by itself: settings are lost, the ports stay, the boot lines come. */
  reset(): void {
    if (!this.#dialogue.ports.areOpen) return;
    this.#loseVolatileState();
    this.#dialogue.ports.startDialogues();
    this.#options.publish('modem_reset', { imei: this.imei });
    this.#start('restart');
  }

  /** Plays a fault. Throws `FaultError` when it cannot be played now. */
  play(fault: Fault): void {
    if (fault.kind === 'unplug') this.power.checkPlace(fault);
    this.#options.publish('fault_set', { imei: this.imei, fault });
    if (this.power.play(fault)) return;
    if (fault.kind === 'reset') this.reset();
    else if (fault.kind === 'echo') this.#dialogue.ports.setEcho(fault.to === 'on');
    else this.faults.set(fault);
  }

  /** Ends all faults; an unplugged modem comes back. */
  clearFaults(): void {
    this.#options.publish('faults_cleared', { imei: this.imei });
    this.sim.repair();
    this.faults.clear();
    this.power.plugIn(0);
    this.onConditionsChanged();
  }

  /** At the end of the simulator: unplugs, and no timer brings the modem back. */
  switchOff(): void {
    this.faults.clear();
    this.power.unplug();
    this.radio.stop();
  }

  #onUp(step: CuringStep): void {
    this.#options.publish('modem_plugged', { imei: this.imei, ports: this.portPaths, usb: this.usb });
    this.#followReading();
    this.#start(step);
  }

  #onDown(): void {
    this.#stuck.stop();
    this.#loseVolatileState();
    this.#options.publish('modem_unplugged', { imei: this.imei });
  }

  #start(step: CuringStep): void {
    this.#stuck.onStep(step);
    this.#stuck.follow();
    this.radio.searchAnew();
    this.#boot.start({ tells: this.#wasPluggedIn });
    this.#wasPluggedIn = true;
    this.onConditionsChanged();
  }

  #loseVolatileState(): void {
    this.#boot.stop();
    this.voice.restart();
    this.#dialogue.urcs.forget();
    this.settings = defaultModemSettings();
    this.inbox.restart();
  }

  #onFaultsChanged(): void {
    const fault = this.faults.get('sim');
    this.sim.follow(fault);
    this.#cardNews.follow(fault?.urc === true);
    this.#followReading();
    this.#stuck.follow();
    this.power.follow();
    this.onConditionsChanged();
  }

  #followReading(): void {
    const isVoiceRead = this.faults.get('pcm_stall')?.direction !== 'from_host';
    this.#dialogue.ports.setReading(!this.faults.has('not_reading'), isVoiceRead);
  }

  /** Sends an unsolicited line to where settings and faults want it. */
  sendUrc(line: string): void {
    this.#dialogue.urcs.send(line);
  }

  /** Says that the terminal was shown messages. */
  tellListed(memory: Memory, messages: readonly (readonly [index: number, message: StoredMessage])[]): void {
    if (messages.length === 0) return;
    const entries = messages.map(([index, { id }]) => ({ index, id: id ?? null }));
    this.#options.publish('sms_listed', { imei: this.imei, memory, entries });
  }

  /** Deletes messages and lets the carrier fill the room. Throws `JournalError`. */
  removeMessages(memory: Memory, indexes: readonly number[]): void {
    if (indexes.length === 0) return;
    const ids = indexes.map((index) => this.stores.get(memory, index)?.id ?? null);
    this.stores.remove(memory, indexes);
    this.#options.publish('sms_deleted', { imei: this.imei, memory, indexes, ids });
    this.wakeCarrier();
  }

  // Card and network

  /** Takes the old card out. With `tells` the modem notices and says so. */
  insertCard(card: SimCard | undefined, { tells }: { tells: boolean }): void {
    if (tells && this.sim.card !== undefined) this.#cardNews.tellRemoved();
    this.inbox.restart();
    this.voice.calls.drop({ tells });
    this.sim.insert(card);
    if (tells && this.sim.state === 'ready') this.#cardNews.tellInserted();
    this.#options.publish('sim_changed', { imei: this.imei, iccid: card?.identity.iccid ?? null });
    this.onConditionsChanged();
  }

  /** +CFUN. */
  setFunctionality(level: number): void {
    const wasOff = this.settings.functionality !== 1;
    this.settings.functionality = level;
    if (wasOff && level === 1) {
      this.radio.searchAnew();
      this.#stuck.onStep('radio');
    }
    this.onConditionsChanged();
  }

  /** Milliseconds since the epoch, as the network tells them. */
  now(): number {
    return this.#options.clock.now() + this.timePolicy.shiftMs;
  }

  receive(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later' {
    return this.inbox.receive(message, also);
  }

  /** Tells the carrier that there is room, or a network, again. */
  wakeCarrier(): void {
    const card = this.sim.card;
    if (card !== undefined) this.#options.carrier.deliverWaiting(card.identity.iccid);
  }

  /**
   * Puts a message on the air: one after another, each as long as the delay says. `undefined` when the modem
   * lost power or its card before the message was out. Throws or rejects with `JournalError`.
   */
  transmit(tpdu: Buffer, linePdu: string): Submission | undefined | Promise<Submission | undefined> {
    return this.radio.whenOut(this.#boot.signal, () => {
      const card = this.sim.card;
      return card && this.#options.carrier.submit({ modem: this, sim: card.identity }, tpdu, linePdu);
    });
  }

  /** After anything that registration depends on has changed. */
  onConditionsChanged(): void {
    this.voice.onConditionsChanged();
    this.radio.onConditionsChanged();
  }
}
