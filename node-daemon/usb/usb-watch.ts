// Reports which USB devices are there, whenever that changes.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type UsbDevice, usbDevices } from './usb-device.ts';
import type { UsbTree } from './usb-tree.ts';

/** A rack of 32 modems costs 3 ms each time; a new device is used within a second. */
const CHECK_MS = 1_000;

/** The tree to watch, and the listeners. */
interface UsbWatchParts {
  /** Reads the tree; throws when there is none. */
  readonly read: () => UsbTree;
  /** Called with all devices, after a change of any. */
  readonly onChange: (devices: readonly UsbDevice[]) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Looks about once a second. */
export class UsbWatch {
  readonly #parts: UsbWatchParts;
  #reported: string | undefined;
  #failing = false;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(parts: UsbWatchParts) {
    this.#parts = parts;
  }

  /** Checks at once and then repeatedly, until `stop`. */
  start(): void {
    if (this.#stopped) return;
    this.check();
    this.#timer = this.#parts.clock.after(CHECK_MS, () => this.start());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Looks now: something has happened to a device. */
  check(): void {
    if (this.#stopped) return;
    const devices = this.#read();
    if (devices === undefined) return;
    const now = JSON.stringify(devices);
    if (now === this.#reported) return;
    this.#reported = now;
    this.#parts.onChange(devices);
  }

  /** `undefined`: it cannot be known now. */
  #read(): UsbDevice[] | undefined {
    try {
      const devices = usbDevices(this.#parts.read());
      this.#failing = false;
      return devices;
    } catch (error) {
      if (!this.#failing) this.#parts.log.warn({ err: error }, 'failed to read the USB devices');
      this.#failing = true;
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined;
    }
  }
}
