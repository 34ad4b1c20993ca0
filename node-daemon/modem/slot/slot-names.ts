// Which slot a modem is in: the one that names the modem, else the one that names its place. Pure.
import type { NamedSlot } from '../../config/node-config.ts';

/** The facts that locate a modem. */
interface Located {
  readonly imei: string | null;
  readonly usbPath: string | null;
}

/** The operator's names. */
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

  /** Whether any slot is one of a USB device. */
  get areOfUsb(): boolean {
    return this.#byImei.size + this.#byUsbPath.size > 0;
  }

  get hasImeis(): boolean {
    return this.#byImei.size > 0;
  }

  /** The name that an operator gave to the modem or its place; the modem's goes first. */
  nameOf({ imei, usbPath }: Located): string | undefined {
    const own = imei === null ? undefined : this.#byImei.get(serialOf(imei));
    return own ?? (usbPath === null ? undefined : this.#byUsbPath.get(usbPath));
  }

  /**
   * The default name of a slot without a configured name: its USB path. A place is known before its modem answers, and stays the same after
   * a restart without any memory.
   */
  defaultName(usbPath: string): string {
    return this.all.includes(usbPath) ? `usb-${usbPath}` : usbPath;
  }
}

/** Without the check digit or the version, which some firmware leaves out (3GPP TS 23.003 §6.2). */
function serialOf(imei: string): string {
  return imei.slice(0, 14);
}
