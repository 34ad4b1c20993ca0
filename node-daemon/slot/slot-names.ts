// Finds the slot of a modem: the one that names the modem, or otherwise the one that names its place. Pure.
import type { NamedSlot } from '../config/node-config.ts';

/** The facts that locate a modem. */
interface Located {
  readonly imei: string | null;
  readonly usbPath: string | null;
}

/** The configured names of slots. */
export class SlotNames {
  readonly #byImei = new Map<string, string>();
  readonly #byUsbPath = new Map<string, string>();
  readonly all: readonly string[];

  constructor(slots: readonly NamedSlot[]) {
    this.all = slots.map(({ name }) => name);
    for (const slot of slots) {
      if ('imei' in slot) this.#byImei.set(serialOf(slot.imei), slot.name);
      else if ('usbPath' in slot) this.#byUsbPath.set(slot.usbPath, slot.name);
    }
  }

  /** Whether any slot names a USB device. */
  get areOfUsb(): boolean {
    return this.#byImei.size + this.#byUsbPath.size > 0;
  }

  get hasImeis(): boolean {
    return this.#byImei.size > 0;
  }

  /** Returns the configured name of the modem, or otherwise of its place. */
  nameOf({ imei, usbPath }: Located): string | undefined {
    const own = imei === null ? undefined : this.#byImei.get(serialOf(imei));
    return own ?? (usbPath === null ? undefined : this.#byUsbPath.get(usbPath));
  }

  /** Returns the USB path that a slot names; null if it names none. */
  pathOf(name: string): string | null {
    return [...this.#byUsbPath].find(([, named]) => named === name)?.[0] ?? null;
  }

  /**
   * Returns the default name of a slot: its USB path. It is known before the modem answers, and stays the same after a restart without
   * any storage.
   */
  defaultName(usbPath: string): string {
    return this.all.includes(usbPath) ? `usb-${usbPath}` : usbPath;
  }
}

/** Removes the check digit or the version, which some firmware leaves out (3GPP TS 23.003 §6.2). */
function serialOf(imei: string): string {
  return imei.slice(0, 14);
}
