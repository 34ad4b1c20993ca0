// One simulated modem: its mobile equipment, its ports and commands, its place on the bus, its faults.
import type { CommandMatch } from '../at/command-record.ts';
import type { Behavior } from '../behaviors/behavior.ts';
import type { ModemIdentity, SimIdentity } from '../equipment/identity.ts';
import type { MessageStores } from '../equipment/message-stores.ts';
import { MobileEquipment } from '../equipment/mobile-equipment.ts';
import type { SimReader } from '../equipment/sim-reader.ts';
import { type Fault, FaultSet } from '../faults/fault-set.ts';
import { type CuringStep, Stuck } from '../faults/stuck.ts';
import type { Make } from '../makes/make.ts';
import type { Voice } from '../voice/voice.ts';
import { Dialogue } from './dialogue.ts';
import type { ModemOptions } from './modem-options.ts';
import type { PortPaths } from './modem-ports.ts';
import { type ModemState, modemStateOf } from './modem-state.ts';
import { Power } from './power.ts';
import type { TtyView } from './usb-plug.ts';

/** A modem in a slot of the rack. Unplugged and without a card at first. */
export class SimulatedModem {
  readonly faults: FaultSet;
  /** The mobile equipment that its commands act on. */
  readonly equipment: MobileEquipment;
  /** Plugging in, unplugging, restarting. */
  readonly power: Power;
  readonly #options: ModemOptions;
  readonly #dialogue: Dialogue;
  readonly #stuck: Stuck;

  constructor(options: ModemOptions) {
    const { clock, identity, make, portClock, publish, traits } = options;
    this.#options = options;
    this.faults = new FaultSet(clock, () => this.#onFaultsChanged());
    const { faults } = this;
    this.equipment = new MobileEquipment({
      ...options,
      model: make,
      faults,
      isOn: () => this.#dialogue.ports.areOpen && !this.#isDeaf,
      sendUrc: (line, urgency) => this.#dialogue.urcs.send(line, urgency),
      voicePort: () => this.#dialogue.ports.voicePort,
      soundCard: () => this.power.soundCard,
      restart: () => this.restart(),
      onRadioOn: () => this.#stuck.onStep('radio'),
    });
    this.#dialogue = new Dialogue({
      ...options,
      equipment: this.equipment,
      behaviors: [...make.behaviors, ...options.behaviors],
      isDeaf: () => this.#isDeaf,
      onUnheard: (bytes) => this.#stuck.hear(bytes),
      onVoice: (bytes) => this.voice.hostAudio.hear(bytes),
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
      ...traits,
      slot: identity.slot,
      description: () => (this.voice.stored.usbAudio ? make.usbWithSound : undefined) ?? make.usb,
      ports: this.#dialogue.ports,
      faults,
      onUp: (step) => this.#onUp(step),
      onDown: () => this.#onDown(),
    });
  }

  // Identity

  get make(): Make {
    return this.#options.make;
  }

  get imei(): string {
    return this.equipment.imei;
  }

  /** As `MobileEquipment.identity`. */
  get identity(): ModemIdentity & SimIdentity {
    return this.equipment.identity;
  }

  get slot(): string {
    return this.identity.slot;
  }

  /** Number of the inserted card; empty without one. */
  get number(): string {
    return this.equipment.number;
  }

  get sim(): SimReader {
    return this.equipment.sim;
  }

  get stores(): MessageStores {
    return this.equipment.stores;
  }

  get voice(): Voice {
    return this.equipment.voice;
  }

  // Location and state

  /** First part of the names of its links: the slot's, or the one that the fault `unplug` gave. */
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

  get state(): ModemState {
    return modemStateOf({
      plug: this.power.state,
      isDeaf: this.#isDeaf,
      sim: this.sim.state,
      registration: this.equipment.registration,
    });
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

  /** Puts a behavior in front of the others. */
  define(behavior: Behavior): void {
    this.#dialogue.define(behavior);
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

  /** Ends all faults; plugs the modem in if it is unplugged. */
  clearFaults(): void {
    this.#options.publish('faults_cleared', { imei: this.imei });
    this.sim.repair();
    this.faults.clear();
    this.power.plugIn(0);
    this.equipment.onConditionsChanged();
  }

  /** At the end of the simulator: unplugs, and no timer plugs the modem in again. */
  switchOff(): void {
    this.faults.clear();
    this.power.unplug();
    this.equipment.radio.stop();
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
    this.equipment.start();
  }

  #loseVolatileState(): void {
    this.equipment.loseVolatileState();
    this.#dialogue.urcs.forget();
  }

  #onFaultsChanged(): void {
    this.equipment.followSimFault();
    this.#followReading();
    this.#stuck.follow();
    this.power.follow();
    this.equipment.onConditionsChanged();
  }

  #followReading(): void {
    const isVoiceRead = this.faults.get('pcm_stall')?.direction !== 'from_host';
    this.#dialogue.ports.setReading(!this.faults.has('not_reading'), isVoiceRead);
  }
}
