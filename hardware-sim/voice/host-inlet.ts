// Samples from the host that wait to be played: octets in the order in which they came, with a bound.

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

/** Of one modem. */
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

  /** So many octets, or nothing when there are fewer. */
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
