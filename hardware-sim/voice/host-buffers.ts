// Samples between modem and host: those that wait to be played, and those that a driver buffers for the host.

interface Chunk {
  bytes: Buffer;
  arrivedAtMs: number;
}

/** Octets out of `HostInlet`. */
interface Taken {
  bytes: Buffer;
  /** When the last of them came. */
  arrivedAtMs: number;
}

export class HostInlet {
  readonly #bytesMax: number;
  #chunks: Chunk[] = [];
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns how many octets were dropped, always whole samples: the others must keep their places. */
  push(bytes: Buffer, arrivedAtMs: number): number {
    const excess = Math.max(0, this.#length + bytes.length - this.#bytesMax);
    const dropped = Math.min(bytes.length, excess + (excess % 2));
    const kept = bytes.length - dropped;
    if (kept > 0) this.#chunks.push({ bytes: bytes.subarray(0, kept), arrivedAtMs });
    this.#length += kept;
    return dropped;
  }

  /** Takes that many octets, or nothing if there are fewer. */
  take(count: number): Taken | undefined {
    if (this.#length < count) return undefined;
    const parts: Buffer[] = [];
    let arrivedAtMs = 0;
    for (let missing = count; missing > 0; ) {
      const [head] = this.#chunks;
      if (head === undefined) return undefined;
      const part = head.bytes.subarray(0, missing);
      parts.push(part);
      arrivedAtMs = head.arrivedAtMs;
      missing -= part.length;
      if (part.length === head.bytes.length) this.#chunks.shift();
      else head.bytes = head.bytes.subarray(part.length);
    }
    this.#length -= count;
    return { bytes: Buffer.concat(parts), arrivedAtMs };
  }

  clear(): void {
    this.#chunks = [];
    this.#length = 0;
  }
}

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
