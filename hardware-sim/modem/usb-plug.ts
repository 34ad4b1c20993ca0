// The plug of one modem: its device on the bus and its terminals, which come and go together.
import { join } from 'node:path';
import type { Timer } from '#shared/clock.ts';
import type { SoundCard } from '../alsa/sound-cards.ts';
import type { SerialRole, UsbDescription, UsbInterface } from '../usb/usb-description.ts';
import type { UsbDevice } from '../usb/usb-device.ts';
import type { ModemOptions } from './modem-options.ts';
import type { ModemPorts } from './modem-ports.ts';

/**
 * `storage`: the device shows a driver disk and no terminals. `unauthorized`: the host has switched it off
 * through its `authorized` file.
 */
export type PlugState = 'absent' | 'storage' | 'unauthorized' | 'modem';

/** A terminal as `GET /modems` shows it. */
export interface TtyView {
  tty: string;
  interface: number;
  role: SerialRole;
}

export interface UsbPlugOptions extends Pick<ModemOptions, 'bus' | 'soundCards' | 'make' | 'clock'> {
  /** The USB device as which the modem arrives. */
  description: () => UsbDescription;
  serial: string | undefined;
  path: string;
  linkName: string;
  ports: ModemPorts;
  /** The terminals are open. */
  onUp: () => void;
  /** The terminals have hung up. */
  onDown: () => void;
  /** Called for a failure that has no caller to throw to. */
  onFailure: (error: unknown) => void;
}

/** Absent at first. */
export class UsbPlug {
  /** First part of the names of the links: the slot's, or another for the next time. */
  linkName: string;
  /** Where it is, or will be the next time. */
  path: string;
  readonly #options: UsbPlugOptions;
  #state: PlugState = 'absent';
  #device: UsbDevice | undefined;
  #card: SoundCard | undefined;
  #ttys: { number: number; usbInterface: UsbInterface; role: SerialRole }[] = [];
  /** Numbers that a client still has open: the next terminals get others. */
  #heldNumbers: number[] = [];
  #switchover: Timer | undefined;

  constructor(options: UsbPlugOptions) {
    this.#options = options;
    this.linkName = options.linkName;
    this.path = options.path;
  }

  get state(): PlugState {
    return this.#state;
  }

  /** While it has one. */
  get card(): SoundCard | undefined {
    return this.#card;
  }

  /** Empty while there are none. */
  get ttys(): TtyView[] {
    return this.#ttys.map(({ number, usbInterface, role }) => ({
      tty: ttyName(number),
      interface: usbInterface.number,
      role,
    }));
  }

  /**
   * Arrives as a modem, or as storage: for `storageMs`, or until `becomeModem` when that is `Infinity`. Does
   * nothing when it is there. Throws `UsbError`, `PtyError` or a file system error.
   */
  plugIn(storageMs = 0): void {
    if (this.#state !== 'absent') return;
    this.#arrive(storageMs > 0 ? 'storage' : 'modem');
    if (storageMs > 0 && storageMs !== Number.POSITIVE_INFINITY) {
      this.#switchover = this.#options.clock.after(storageMs, () => this.#try(() => this.becomeModem()));
    }
  }

  /** From storage to modem, as `usb_modeswitch` does it: the device leaves and another arrives. Throws as `plugIn`. */
  becomeModem(): void {
    if (this.#state !== 'storage') return;
    this.#leave();
    this.#arrive('modem');
  }

  /**
   * The device leaves. With `holdsNumbers` the terminals get other names when it is back, as they do when a
   * program still has the old ones open. Idempotent.
   */
  unplug({ holdsNumbers = false } = {}): void {
    if (this.#state === 'absent') return;
    this.#closeTerminals(holdsNumbers);
    this.#leave();
  }

  #arrive(state: 'storage' | 'modem'): void {
    const { bus, make, serial } = this.#options;
    const description = state === 'modem' ? this.#options.description() : make.storage;
    const device = bus.arrive(this.path, { description, serial }, (isAuthorized) =>
      this.#try(() => this.#onAuthorized(isAuthorized)),
    );
    this.#device = device;
    try {
      if (state === 'storage') device.showInterfaces(new Map());
      else this.#openTerminals(device);
    } catch (cause) {
      this.#leave();
      throw cause;
    }
    this.#state = state;
    if (state === 'modem') this.#options.onUp();
  }

  #leave(): void {
    this.#switchover?.cancel();
    this.#device?.leave();
    this.#device = undefined;
    this.#state = 'absent';
  }

  /** A "1" without a "0": the host wrote both before the file was read. */
  #onAuthorized(isAuthorized: boolean): void {
    const device = this.#device;
    if (device === undefined) return;
    if (this.#state !== 'unauthorized') {
      this.#switchover?.cancel();
      device.hideInterfaces();
      const wasModem = this.#state === 'modem';
      this.#state = 'unauthorized';
      if (wasModem) this.#closeTerminals(false);
    }
    if (!isAuthorized) return;
    if (device.description !== this.#options.make.storage) {
      this.#openTerminals(device);
      this.#state = 'modem';
      this.#options.onUp();
    } else {
      device.showInterfaces(new Map());
      this.#state = 'storage';
    }
  }

  /** Terminals first: a program that sees an interface must find its terminal. */
  #openTerminals(device: UsbDevice): void {
    const { bus, ports, soundCards } = this.#options;
    const serials = device.description.interfaces.flatMap((usbInterface) =>
      usbInterface.serial === undefined ? [] : [{ usbInterface, role: usbInterface.serial }],
    );
    const numbers = bus.ttyNumbers.take(serials.length);
    bus.ttyNumbers.release(this.#heldNumbers);
    this.#heldNumbers = [];
    const ttys = serials.map((serial, index) => ({ ...serial, number: numbers[index] ?? 0 }));
    try {
      ports.open(
        this.linkName,
        ttys.map(({ role, number }) => ({ role, ttyPath: join(bus.devFolder, ttyName(number)) })),
      );
    } catch (cause) {
      bus.ttyNumbers.release(numbers);
      throw cause;
    }
    this.#ttys = ttys;
    try {
      const hasCard = device.description.interfaces.some(({ isSound }) => isSound === true);
      if (hasCard) this.#card = soundCards.add();
      device.showInterfaces(
        new Map(ttys.map((tty) => [tty.usbInterface.number, ttyName(tty.number)])),
        this.#card,
      );
    } catch (cause) {
      this.#removeTerminals(false);
      throw cause;
    }
  }

  #closeTerminals(holdsNumbers: boolean): void {
    const { ports, onDown } = this.#options;
    const wereOpen = ports.areOpen;
    this.#removeTerminals(holdsNumbers);
    if (wereOpen) onDown();
  }

  #removeTerminals(holdsNumbers: boolean): void {
    const { bus, ports } = this.#options;
    this.#device?.hideInterfaces();
    this.#card?.remove();
    this.#card = undefined;
    ports.close();
    const numbers = this.#ttys.map(({ number }) => number);
    this.#ttys = [];
    if (holdsNumbers) this.#heldNumbers = numbers;
    else bus.ttyNumbers.release(numbers);
  }

  #try(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#options.onFailure(error);
    }
  }
}

function ttyName(number: number): string {
  return `ttyUSB${number}`;
}
