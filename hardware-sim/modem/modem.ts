// One simulated modem: its ports, its commands, its place on the network, its faults.
import { type Clock, sleep, type Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Carrier, ReportPolicy, Submission, Subscriber } from '../carrier/carrier.ts';
import type { Publish } from '../carrier/event-feed.ts';
import type { Make } from '../makes/make.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import type { RackRecord, WaitingMessage } from '../state/rack-state.ts';
import type { UsbBus } from '../usb/usb-bus.ts';
import type { Answer } from './answer.ts';
import { type AnswerFaults, answerFaultsOf } from './answer-faults.ts';
import type { AtCommand } from './at-line.ts';
import type { Behaviour } from './behaviour.ts';
import { type CommandMatch, CommandRecord } from './command-record.ts';
import { type Fault, FaultError, type FaultOf, FaultSet } from './faults.ts';
import type { ModemIdentity } from './identity.ts';
import { Inbox } from './inbox.ts';
import { MessageStores } from './message-stores.ts';
import { ModemPorts, type PortPaths } from './modem-ports.ts';
import {
  isRegistered,
  type Registration,
  registrationOf,
  registrationText,
  STAT_DENIED,
  STAT_OFF,
} from './registration.ts';
import { defaultModemSettings, type Memory, type ModemSettings, type PortSettings } from './settings.ts';
import { SimCard, type SimState } from './sim-card.ts';
import { type TtyView, UsbPlug } from './usb-plug.ts';

/** `registered`: messages flow. The others say what is in the way. */
export type ModemState =
  | 'registered'
  | 'searching'
  | 'denied'
  | 'radio_off'
  | 'no_sim'
  | 'sim_locked'
  | 'silent'
  | 'storage'
  | 'unauthorized'
  | 'unplugged';

const STATES_BY_STAT: Readonly<Record<number, ModemState>> = {
  [STAT_OFF]: 'radio_off',
  [STAT_DENIED]: 'denied',
};

/** What a modem needs. */
export interface ModemOptions {
  identity: ModemIdentity;
  make: Make;
  bus: UsbBus;
  /** Where on the bus, and the serial number that it shows there. */
  usbPath: string;
  usbSerial: string | undefined;
  /** How long it shows its driver disk whenever it arrives. */
  storageFirstMs: number;
  /** Folder of the links that are named after the slot. */
  linkFolder: string;
  journal: RackJournal;
  carrier: Carrier;
  clock: Clock;
  /** For the terminals: they need real time whatever `clock` is. */
  portClock: Clock;
  log: Logger;
  publish: Publish;
  /** Tried in order; `define` puts new ones first. */
  behaviours: readonly Behaviour[];
  /** Time that each message takes on the air. */
  sendDelayMs: number;
  /** Whether another modem uses a name for its links. */
  isNameTaken: (name: string) => boolean;
}

/** A modem in a slot of the rack. Unplugged at first. */
export class SimulatedModem implements Subscriber {
  readonly identity: ModemIdentity;
  readonly faults: FaultSet;
  readonly simCard = new SimCard();
  readonly stores: MessageStores;
  readonly inbox: Inbox;
  settings: ModemSettings = defaultModemSettings();
  readonly #options: ModemOptions;
  readonly #record: CommandRecord;
  readonly #answerFaults: AnswerFaults;
  #behaviours: readonly Behaviour[];
  readonly #ports: ModemPorts;
  readonly #plug: UsbPlug;
  #replug: Timer | undefined;
  /** Aborted when the modem loses power or restarts: nothing it was doing goes on. */
  #power = new AbortController();
  #airIsFreeAtMs = 0;
  #isPlayingStorage = false;
  #playedSimState: SimState = 'ready';
  #shownRegistration: Registration;

  constructor(options: ModemOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.#behaviours = options.behaviours;
    this.#record = new CommandRecord(options.clock);
    this.faults = new FaultSet(options.clock, () => this.#onFaultsChanged());
    this.#answerFaults = answerFaultsOf(this.faults, options.clock);
    this.#ports = new ModemPorts({
      linkFolder: options.linkFolder,
      clock: options.portClock,
      log: options.log,
      isSilent: () => this.#isSilent,
      dialogue: {
        answer: (command, port) => this.#answer(command, port),
        onLine: (line) => this.#record.add(line),
        noiseBeforeAnswer: () => this.#answerFaults.noise(),
        lineInAnswer: () => this.#answerFaults.intruder(),
      },
    });
    this.#plug = new UsbPlug({
      bus: options.bus,
      make: options.make,
      serial: options.usbSerial,
      path: options.usbPath,
      linkName: options.identity.slot,
      ports: this.#ports,
      clock: options.clock,
      onUp: () => this.#onUp(),
      onDown: () => this.#onDown(),
      onFailure: (error) => this.#onPlugFailure(error),
    });
    this.stores = new MessageStores(options.journal, options.identity.imei);
    this.#shownRegistration = this.registration;
    this.inbox = new Inbox({
      imei: options.identity.imei,
      journal: options.journal,
      clock: options.clock,
      stores: this.stores,
      faults: this.faults,
      publish: options.publish,
      settings: () => this.settings,
      sendUrc: (line) => this.sendUrc(line),
      onReady: () => this.wakeCarrier(),
    });
  }

  get imei(): string {
    return this.identity.imei;
  }

  get number(): string {
    return this.identity.number;
  }

  /** First part of the names of its links: the slot's, or where it came back. */
  get linkName(): string {
    return this.#plug.linkName;
  }

  get make(): Make {
    return this.#options.make;
  }

  /** Its place on the bus and its terminals there. */
  get usb(): { path: string; ttys: TtyView[] } {
    return { path: this.#plug.path, ttys: this.#plug.ttys };
  }

  /** Absolute paths of the links; they exist while the modem is plugged in. */
  get portPaths(): PortPaths {
    return this.#ports.pathsOf(this.linkName);
  }

  get registration(): Registration {
    return registrationOf({
      isRadioOn: this.settings.functionality === 1 && this.settings.operatorMode !== 2,
      isSimReady: this.simCard.state === 'ready',
      isSearching: this.faults.get('not_registered') !== undefined,
      isDenied: this.faults.get('denied') !== undefined,
      isVolteOnly: this.faults.get('volte_only') !== undefined,
    });
  }

  get isReachable(): boolean {
    return this.#ports.areOpen && !this.#isSilent && isRegistered(this.registration);
  }

  get state(): ModemState {
    const plug = this.#plug.state;
    if (plug !== 'modem') return plug === 'absent' ? 'unplugged' : plug;
    if (this.#isSilent) return 'silent';
    if (this.simCard.state === 'not_inserted') return 'no_sim';
    if (this.simCard.state !== 'ready') return 'sim_locked';
    if (isRegistered(this.registration)) return 'registered';
    return STATES_BY_STAT[this.registration.circuitSwitched] ?? 'searching';
  }

  get reportPolicy(): ReportPolicy {
    const fault = this.faults.get('status_report');
    if (fault?.withheld === true) return { status: undefined, copies: 0 };
    return { status: fault?.tp_status, copies: fault?.duplicated === true ? 2 : 1 };
  }

  get #isSilent(): boolean {
    return this.faults.get('silent') !== undefined;
  }

  get #storageFirstMs(): number {
    return this.#options.make.comesAsStorage ? this.#options.storageFirstMs : 0;
  }

  // Tests

  /** The last command lines on both ports, oldest first. */
  get commandLines(): readonly string[] {
    return this.#record.lines;
  }

  clearCommandLines(): void {
    this.#record.clear();
  }

  /** As `CommandRecord.expect`. */
  expectCommand(match: CommandMatch, { timeoutMs }: { timeoutMs: number }): Promise<string> {
    return this.#record.expect(match, timeoutMs);
  }

  /** Puts a behaviour in front of the others. */
  define(behaviour: Behaviour): void {
    this.#behaviours = [behaviour, ...this.#behaviours];
  }

  // Power and ports

  /**
   * Arrives on the bus, as its driver disk first when it is a modem that does so or `storageMs` says so. Throws
   * `UsbError`, or `PtyError` when the system gives no more pseudo-terminals.
   */
  plugIn(storageMs = this.#storageFirstMs): void {
    this.#replug?.cancel();
    this.#plug.plugIn(this.faults.get('storage') === undefined ? storageMs : Number.POSITIVE_INFINITY);
    this.faults.end('unplug');
  }

  /** Turns from the driver disk into the modem, as a mode switch does. Throws as `plugIn`. */
  switchMode(): void {
    this.faults.end('storage');
    this.#plug.becomeModem();
  }

  /** Takes the modem out of its slot: the ports hang up, the links go. Idempotent. */
  unplug(): void {
    this.#replug?.cancel();
    this.#plug.unplug();
  }

  /** Takes the power away and gives it back after `offMs`. */
  powerCycle(offMs: number): void {
    this.unplug();
    this.#plugInAfter(offMs);
  }

  #onUp(): void {
    this.#power = new AbortController();
    this.#options.publish('modem_plugged', { imei: this.imei, ports: this.portPaths, usb: this.usb });
    this.wakeCarrier();
  }

  #onDown(): void {
    this.#loseVolatileState();
    this.#options.publish('modem_unplugged', { imei: this.imei });
  }

  /** Restarts by itself: settings are lost, the ports stay, the boot lines come. */
  restart(): void {
    if (!this.#ports.areOpen) return;
    this.#loseVolatileState();
    this.#ports.startDialogues();
    this.#options.publish('modem_reset', { imei: this.imei });
    const bootLines = ['RDY', '+CFUN: 1', '+CPIN: READY', '+QUSIM: 1', '+QIND: SMS DONE'];
    for (const line of this.simCard.state === 'ready' ? bootLines : bootLines.slice(0, 2)) this.sendUrc(line);
    this.wakeCarrier();
  }

  /** Plays a fault. Throws `FaultError` when it cannot be played now. */
  play(fault: Fault): void {
    if (fault.kind === 'unplug') this.#checkPlace(fault);
    this.#options.publish('fault_set', { imei: this.imei, fault });
    if (fault.kind === 'reset') this.restart();
    else if (fault.kind === 'unplug') this.#playUnplug(fault);
    else if (fault.kind === 'storage') this.#playStorage(fault);
    else this.faults.set(fault);
  }

  #checkPlace({ as, usb_path: path }: FaultOf<'unplug'>): void {
    if (as !== undefined && this.#options.isNameTaken(as)) {
      throw new FaultError(`as: another modem has the name ${as}`);
    }
    if (path !== undefined && path !== this.#plug.path && this.#options.bus.isTaken(path)) {
      throw new FaultError(`usb_path: there is a device at ${path}`);
    }
  }

  #playUnplug(fault: FaultOf<'unplug'>): void {
    this.unplug();
    this.#plug.linkName = fault.as ?? this.#plug.linkName;
    this.#plug.path = fault.usb_path ?? this.#plug.path;
    this.faults.set(fault);
    if (fault.back_after_ms !== undefined) this.#plugInAfter(fault.back_after_ms);
  }

  #playStorage(fault: FaultOf<'storage'>): void {
    this.unplug();
    this.faults.set(fault);
    this.plugIn();
  }

  /** Ends all faults; an unplugged modem comes back. */
  clearFaults(): void {
    this.#options.publish('faults_cleared', { imei: this.imei });
    this.faults.clear();
    this.plugIn(0);
  }

  /** At the end of the simulator: unplugs, and no timer brings the modem back. */
  switchOff(): void {
    this.faults.clear();
    this.unplug();
  }

  #plugInAfter(delayMs: number): void {
    this.#replug = this.#options.clock.after(delayMs, () => this.#tryToPlug(() => this.plugIn()));
  }

  #tryToPlug(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#onPlugFailure(error);
    }
  }

  #onPlugFailure(error: unknown): void {
    this.#options.log.error({ err: error, imei: this.imei }, 'cannot plug the modem in');
  }

  #loseVolatileState(): void {
    this.#power.abort(new Error('the modem lost power'));
    this.#power = new AbortController();
    this.#airIsFreeAtMs = 0;
    this.settings = defaultModemSettings();
    this.inbox.restart();
  }

  // Commands

  #answer(command: AtCommand, port: PortSettings): Answer | Promise<Answer> {
    const answer = (): Answer | Promise<Answer> => {
      for (const behaviour of this.#behaviours) {
        const given = behaviour.answer(command, { modem: this, port });
        if (given !== undefined) return given;
      }
      return { kind: 'error' };
    };
    const onFailure = (error: unknown): void =>
      this.#options.log.error({ err: error, imei: this.imei, command: command.name }, 'command failed');
    return this.#answerFaults.applyTo({ command, answer, signal: this.#power.signal, onFailure });
  }

  /** Deletes messages and lets the carrier fill the room. Throws `JournalError`. */
  removeMessages(memory: Memory, indexes: readonly number[]): void {
    if (indexes.length === 0) return;
    this.stores.remove(memory, indexes);
    this.#options.publish('sms_deleted', { imei: this.imei, memory, indexes });
    this.wakeCarrier();
  }

  /** Milliseconds since the epoch, as the network tells them. */
  now(): number {
    return this.#options.clock.now();
  }

  /** Sends an unsolicited line to the port that +QURCCFG chose. */
  sendUrc(line: string): void {
    this.#ports.sendUrc(line, this.settings.urcPort);
  }

  // Network

  receive(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later' {
    return this.inbox.receive(message, also);
  }

  /** Tells the carrier that there is room, or a network, again. */
  wakeCarrier(): void {
    this.#options.carrier.deliverWaiting(this.imei);
  }

  /**
   * Puts a message on the air: one after another, each as long as the delay says. `undefined` when the modem
   * lost power before the message was out. Throws or rejects with `JournalError`.
   */
  transmit(tpdu: Buffer, linePdu: string): Submission | undefined | Promise<Submission | undefined> {
    const { clock, carrier, sendDelayMs } = this.#options;
    const startMs = Math.max(clock.now(), this.#airIsFreeAtMs);
    this.#airIsFreeAtMs = startMs + (this.faults.get('send_delay')?.ms ?? sendDelayMs);
    const waitMs = this.#airIsFreeAtMs - clock.now();
    if (waitMs <= 0) return carrier.submit(this, tpdu, linePdu);
    return sleep(clock, waitMs, this.#power.signal).then(
      () => carrier.submit(this, tpdu, linePdu),
      () => undefined,
    );
  }

  /** After anything that registration depends on has changed: reports it and fetches what waits. */
  onConditionsChanged(): void {
    const before = this.#shownRegistration;
    const now = this.registration;
    this.#shownRegistration = now;
    const reports = this.settings.registrationReports;
    const changes = [
      ['+CREG', before.circuitSwitched, now.circuitSwitched],
      ['+CGREG', before.packetSwitched, now.packetSwitched],
      ['+CEREG', before.evolved, now.evolved],
    ] as const;
    for (const [name, was, is] of changes) {
      if (was !== is && reports[name] > 0) this.sendUrc(`${name}: ${registrationText(is, reports[name])}`);
    }
    if (this.isReachable) this.wakeCarrier();
  }

  /** The card follows its fault when that comes and goes, and is left alone otherwise. */
  #onFaultsChanged(): void {
    const simState = this.faults.get('sim')?.state ?? 'ready';
    if (simState !== this.#playedSimState) this.simCard.setState(simState);
    this.#playedSimState = simState;
    const isStorage = this.faults.get('storage') !== undefined;
    if (this.#isPlayingStorage && !isStorage) this.#tryToPlug(() => this.#plug.becomeModem());
    this.#isPlayingStorage = isStorage;
    this.onConditionsChanged();
  }
}
