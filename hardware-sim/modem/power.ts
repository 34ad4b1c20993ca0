// The presence of a modem: plugged in, driver disk, restarting, unplugged; and the faults of these.
import type { Timer } from '#shared/clock.ts';
import type { SoundCard } from '../alsa/sound-cards.ts';
import { type Fault, FaultError, type FaultOf, type FaultSet } from '../faults/fault-set.ts';
import type { CuringStep } from '../faults/stuck.ts';
import type { ModemOptions, ModemTraits } from './modem-options.ts';
import { type PlugState, type TtyView, UsbPlug, type UsbPlugOptions } from './usb-plug.ts';

/** From the command to the loss of the bus: the answer gets out, and the client reads it. */
const RESTART_DELAY_MS = 50;

interface PowerOptions
  extends Pick<ModemOptions, 'usbPath' | 'usbSerial' | 'log' | 'isNameTaken'>,
    Pick<ModemTraits, 'storageFirstMs' | 'bootMs'>,
    Pick<UsbPlugOptions, 'bus' | 'soundCards' | 'make' | 'description' | 'ports' | 'clock' | 'onDown'> {
  slot: string;
  faults: FaultSet;
  /** The modem runs, after this step. */
  onUp: (step: CuringStep) => void;
}

/** Unplugged at first. */
export class Power {
  readonly #options: PowerOptions;
  readonly #plug: UsbPlug;
  #replug: Timer | undefined;
  /** A restart that was asked for and has not begun. */
  #leaving: Timer | undefined;
  #isRestarting = false;
  #isPlayingStorage = false;

  constructor(options: PowerOptions) {
    this.#options = options;
    this.#plug = new UsbPlug({
      ...options,
      serial: options.usbSerial,
      path: options.usbPath,
      linkName: options.slot,
      onUp: () => this.#onUp(),
      onFailure: (error) => this.#onFailure(error),
    });
  }

  get state(): PlugState {
    return this.#plug.state;
  }

  /** First part of the names of its links: the slot's, or the one that the fault `unplug` gave. */
  get linkName(): string {
    return this.#plug.linkName;
  }

  /** While it has one. */
  get soundCard(): SoundCard | undefined {
    return this.#plug.card;
  }

  /** Its place on the bus and its terminals there. */
  get usb(): { path: string; ttys: TtyView[] } {
    return { path: this.#plug.path, ttys: this.#plug.ttys };
  }

  /**
   * Plugs the modem in. It shows its driver disk first if its make does, or for `storageMs`. Throws `UsbError`,
   * or `PtyError` when the system has no more pseudo-terminals.
   */
  plugIn(storageMs?: number): void {
    const { faults, make, storageFirstMs } = this.#options;
    this.#replug?.cancel();
    const usualMs = make.comesAsStorage ? storageFirstMs : 0;
    this.#plug.plugIn(faults.has('storage') ? Number.POSITIVE_INFINITY : (storageMs ?? usualMs));
    faults.end('unplug');
    faults.end('port_gone');
  }

  /** Turns from the driver disk into the modem, as a mode switch does. Throws as `plugIn`. */
  switchMode(): void {
    this.#options.faults.end('storage');
    this.#plug.becomeModem();
  }

  /** Takes the modem out of its slot: the ports hang up, the links go. Idempotent. */
  unplug(): void {
    this.#replug?.cancel();
    this.#leaving?.cancel();
    this.#isRestarting = false;
    this.#plug.unplug();
  }

  /** Takes the power away and gives it back after `offMs`. */
  cycle(offMs: number): void {
    this.unplug();
    this.#plugInAfter(offMs);
  }

  /** On command: the device leaves the bus and comes back with terminals of other numbers. */
  restart(): void {
    if (this.#plug.state !== 'modem') return;
    this.#leaving?.cancel();
    this.#leaving = this.#options.clock.after(RESTART_DELAY_MS, () => {
      this.#plug.unplug({ holdsNumbers: true });
      this.#isRestarting = true;
      this.#plugInAfter(this.#options.bootMs);
    });
  }

  /** Throws `FaultError` for a place that is taken. */
  checkPlace({ as, usb_path: path }: FaultOf<'unplug'>): void {
    if (as !== undefined && this.#options.isNameTaken(as)) {
      throw new FaultError(`as: another modem has the name ${as}`);
    }
    if (path !== undefined && path !== this.#plug.path && this.#options.bus.isTaken(path)) {
      throw new FaultError(`usb_path: there is a device at ${path}`);
    }
  }

  /** Returns whether the fault is one of the plug, which is played then. */
  play(fault: Fault): boolean {
    if (fault.kind === 'unplug') this.#playUnplug(fault);
    else if (fault.kind === 'port_gone') this.#playPortGone(fault);
    else if (fault.kind === 'storage') this.#playStorage(fault);
    else return false;
    return true;
  }

  /** After a change of faults: the end of the fault `storage` turns the disk into the modem. */
  follow(): void {
    const isStorage = this.#options.faults.has('storage');
    if (this.#isPlayingStorage && !isStorage) this.#try(() => this.#plug.becomeModem());
    this.#isPlayingStorage = isStorage;
  }

  #playUnplug(fault: FaultOf<'unplug'>): void {
    this.unplug();
    this.#plug.linkName = fault.as ?? this.#plug.linkName;
    this.#plug.path = fault.usb_path ?? this.#plug.path;
    this.#options.faults.set(fault);
    if (fault.back_after_ms !== undefined) this.#plugInAfter(fault.back_after_ms);
  }

  #playPortGone(fault: FaultOf<'port_gone'>): void {
    this.#leaving?.cancel();
    this.#plug.unplug({ holdsNumbers: true });
    this.#options.faults.set(fault);
    this.#plugInAfter(fault.back_after_ms, fault.storage_ms);
  }

  #playStorage(fault: FaultOf<'storage'>): void {
    this.unplug();
    this.#options.faults.set(fault);
    this.plugIn();
  }

  #onUp(): void {
    const step = this.#isRestarting ? 'restart' : 'usb_reset';
    this.#isRestarting = false;
    this.#options.onUp(step);
  }

  #plugInAfter(delayMs: number, storageMs?: number): void {
    this.#replug?.cancel();
    this.#replug = this.#options.clock.after(delayMs, () => this.#try(() => this.plugIn(storageMs)));
  }

  #try(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #onFailure(error: unknown): void {
    this.#options.log.error({ err: error, slot: this.#options.slot }, 'cannot plug the modem in');
  }
}
