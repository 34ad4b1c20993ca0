// Reports the USB devices of the host after every change.
import { type Clock, every, type Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type UsbDevice, usbDevices } from './usb-device.ts';
import type { UsbTree } from './usb-tree.ts';

/** Each check of a rack of 32 modems costs 3 ms, and a new device is used within a second. */
const CHECK_MS = 1_000;

/** The tree to watch, and the handler of changes. */
interface UsbWatchParts {
  /** Reads the tree. Throws if there is none. */
  readonly read: () => UsbTree;
  /** Called with all devices after a change of any of them. */
  readonly onChange: (devices: readonly UsbDevice[]) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Checks about once a second. */
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
    this.#timer = every(this.#parts.clock, CHECK_MS, () => this.check());
    this.check();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Checks at once. Call it when a device may have changed. */
  check(): void {
    if (this.#stopped) return;
    const devices = this.#read();
    if (devices === undefined) return;
    const now = JSON.stringify(devices);
    if (now === this.#reported) return;
    this.#reported = now;
    this.#parts.onChange(devices);
  }

  /** Returns `undefined` if the devices cannot be read now. */
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
