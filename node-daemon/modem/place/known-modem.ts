// Whether the device at a place is known to be a modem that is to be used, and when one that may be none is asked again.
import type { Place, UsbPlace } from './place.ts';

/** Each time a stranger is asked it is disturbed: rarer and rarer, the last for ever. A modem boots within the first three. */
const ASK_AGAIN_MS = [5_000, 15_000, 60_000, 10 * 60_000, 60 * 60_000] as const;
/** A device of the same ids that is back in the same place within this time is the same one: it restarted. */
const SAME_WITHIN_MS = 60_000;

/** The history of the devices that were in one place. Times in ms since the Unix epoch. */
export class KnownModem {
  #known: UsbPlace | undefined;
  #goneAt: number | undefined;
  #asked = 0;

  /** Whether the only step allowed for the device is to ask for its identity. */
  isStranger({ onlyAsk, usb }: Place): boolean {
    return onlyAsk === true && !isSame(usb, this.#known);
  }

  /** It gave an IMEI, and may be used. */
  meet({ usb }: Place): void {
    this.#known = usb;
    this.#asked = 0;
  }

  left(now: number): void {
    this.#goneAt ??= now;
  }

  arrives({ usb }: Place, now: number): void {
    const awayMs = this.#goneAt === undefined ? 0 : Math.abs(now - this.#goneAt);
    if (awayMs > SAME_WITHIN_MS || !isSame(usb, this.#known)) this.#known = undefined;
    // One that comes and goes all the time is asked no more often for it.
    if (awayMs > SAME_WITHIN_MS) this.#asked = 0;
    this.#goneAt = undefined;
  }

  /** The ms until a stranger that gave no IMEI is asked again. */
  askAgainMs(): number {
    const waitMs = ASK_AGAIN_MS[Math.min(this.#asked, ASK_AGAIN_MS.length - 1)] ?? 0;
    this.#asked += 1;
    return waitMs;
  }
}

function isSame(one: UsbPlace | undefined, other: UsbPlace | undefined): boolean {
  return one !== undefined && one.id.vendor === other?.id.vendor && one.id.product === other.id.product;
}
