// The place of one modem: where it is now, and whether the device there may be used as this modem.
import type { Clock } from '#shared/clock.ts';
import { isSameUsbId } from '../usb/usb-device.ts';
import type { Place, UsbPlace } from './place.ts';

/** The place of one modem; `undefined` while it is not plugged in. */
export class ModemLocation {
  readonly #clock: Clock;
  #place: Place | undefined;
  #onChange: () => void = () => undefined;

  constructor(clock: Clock, place: Place | undefined) {
    this.#clock = clock;
    this.#place = place;
  }

  get place(): Place | undefined {
    return this.#place;
  }

  move(place: Place | undefined): void {
    this.#place = place;
    this.#onChange();
  }

  /**
   * Resolves with true when the modem moves, or with false after `timeoutMs` or when `signal` is aborted. Only
   * one caller at a time.
   */
  async moves(timeoutMs: number | undefined, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    return await new Promise<boolean>((resolve) => {
      const end = (hasMoved: boolean): void => {
        timer?.cancel();
        signal.removeEventListener('abort', onAbort);
        this.#onChange = () => undefined;
        resolve(hasMoved);
      };
      const onAbort = (): void => end(false);
      const timer = timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, () => end(false));
      signal.addEventListener('abort', onAbort);
      this.#onChange = () => end(true);
    });
  }
}

/** Waits before an unknown device is asked again. Each attempt disturbs it. The last one repeats. A modem boots within the first three. */
const ASK_AGAIN_MS = [5_000, 15_000, 60_000, 10 * 60_000, 60 * 60_000] as const;
/** A device with the same ids that comes back to the same place within this time restarted. */
const SAME_WITHIN_MS = 60_000;

/** The history of the devices at one place. Times in ms since the Unix epoch. */
export class DeviceHistory {
  #known: UsbPlace | undefined;
  #refused: Place | undefined;
  #goneAt: number | undefined;
  #asked = 0;

  /** Whether the daemon may only ask the device for its identity. */
  isUnidentified({ onlyAsk, usb }: Place): boolean {
    return onlyAsk === true && !isSame(usb, this.#known);
  }

  /** Whether the device there is a modem that must not be used. */
  isRefused(place: Place | undefined): boolean {
    return this.#refused !== undefined && this.#refused === place;
  }

  /** Call it when the device returned an IMEI and must not be used, until another device is in its place. */
  noteRefused(place: Place): void {
    this.#refused = place;
  }

  /** Call it when the device returned an IMEI and may be used. */
  noteIdentified({ usb }: Place): void {
    this.#known = usb;
    this.#asked = 0;
  }

  noteDisappeared(now: number): void {
    this.#goneAt ??= now;
  }

  noteAppeared({ usb }: Place, now: number): void {
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
  return one !== undefined && isSameUsbId(one.id, other?.id);
}
