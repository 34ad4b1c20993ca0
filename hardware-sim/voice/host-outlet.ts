// Samples for the host, as a driver buffers them: a program that opens the device late does not get old ones.

/** After this many unread frames the host counts as absent: a second, in which a terminal fills up anyway. */
const IDLE_FRAMES = 50;

/** A terminal or a pipe to the host. */
export interface OutletDevice {
  /** Takes all octets or none; false when there is no room. */
  writeAll(bytes: Buffer): boolean;
  /** Octets that the host has not read yet. */
  unreadBytes(): number;
  /** Drops them. */
  discardUnread(): void;
}

/** Of one modem. */
export class HostOutlet {
  readonly #device: () => OutletDevice | undefined;
  #unread = 0;
  #framesWithoutReader = IDLE_FRAMES;

  constructor(device: () => OutletDevice | undefined) {
    this.#device = device;
  }

  /** Returns false when the host lost these octets, or some before them. */
  give(bytes: Buffer): boolean {
    const device = this.#device();
    if (device === undefined) return false;
    const unread = device.unreadBytes();
    this.#framesWithoutReader = unread < this.#unread ? 0 : this.#framesWithoutReader + 1;
    const isHostAbsent = this.#framesWithoutReader >= IDLE_FRAMES;
    if (isHostAbsent) device.discardUnread();
    const isTaken = device.writeAll(bytes);
    this.#unread = (isHostAbsent ? 0 : unread) + (isTaken ? bytes.length : 0);
    return isTaken && !isHostAbsent;
  }
}
