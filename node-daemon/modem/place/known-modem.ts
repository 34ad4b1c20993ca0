// Decides whether the device at a place may be used as a modem, and when an unknown device is asked again.
import type { Place, UsbPlace } from './place.ts';

/** Waits before an unknown device is asked again. Each attempt disturbs it. The last one repeats. A modem boots within the first three. */
const ASK_AGAIN_MS = [5_000, 15_000, 60_000, 10 * 60_000, 60 * 60_000] as const;
/** A device with the same ids that comes back to the same place within this time restarted. */
const SAME_WITHIN_MS = 60_000;

/** The history of the devices at one place. Times in ms since the Unix epoch. */
export class KnownModem {
  #known: UsbPlace | undefined;
  #goneAt: number | undefined;
  #asked = 0;

  /** Whether the daemon may only ask the device for its identity. */
  isUnidentified({ onlyAsk, usb }: Place): boolean {
    return onlyAsk === true && !isSame(usb, this.#known);
  }

  /** Call it when the device returned an IMEI and may be used. */
  identified({ usb }: Place): void {
    this.#known = usb;
    this.#asked = 0;
  }

  disappeared(now: number): void {
    this.#goneAt ??= now;
  }

  appeared({ usb }: Place, now: number): void {
    const awayMs = this.#goneAt === undefined ? 0 : Math.abs(now - this.#goneAt);
    if (awayMs > SAME_WITHIN_MS || !isSame(usb, this.#known)) this.#known = undefined;
    // A device that reconnects all the time is not asked more often because of that.
    if (awayMs > SAME_WITHIN_MS) this.#asked = 0;
    this.#goneAt = undefined;
  }

  /** Returns the ms until a device that returned no IMEI is asked again. */
  askAgainMs(): number {
    const waitMs = ASK_AGAIN_MS[Math.min(this.#asked, ASK_AGAIN_MS.length - 1)] ?? 0;
    this.#asked += 1;
    return waitMs;
  }
}

function isSame(one: UsbPlace | undefined, other: UsbPlace | undefined): boolean {
  return one !== undefined && one.id.vendor === other?.id.vendor && one.id.product === other.id.product;
}
