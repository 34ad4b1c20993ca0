// Octets and semi-octets, of which every field of a TPDU is made.

/** A PDU that breaks the format; the message names the field. */
export class PduError extends Error {
  override name = 'PduError';
}

/** Reads pairs of hex digits. Throws `PduError` on an odd count or a character that is no hex digit. */
export function octetsFromHex(hex: string): Buffer {
  if (hex.length % 2 !== 0 || !/^[0-9A-Fa-f]*$/.test(hex)) throw new PduError('not pairs of hex digits');
  return Buffer.from(hex, 'hex');
}

/** Writes octets the way modems do: upper case. */
export function hexFromOctets(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('hex').toUpperCase();
}

/** Walks through the octets of a PDU; reading past the end throws `PduError` with the field's name. */
export class OctetReader {
  readonly #octets: Buffer;
  #position = 0;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  get remaining(): number {
    return this.#octets.length - this.#position;
  }

  octet(field: string): number {
    return this.octets(1, field).readUInt8(0);
  }

  octets(count: number, field: string): Buffer {
    if (count > this.remaining) throw new PduError(`${field} is cut off`);
    const start = this.#position;
    this.#position += count;
    return this.#octets.subarray(start, this.#position);
  }
}

/** Two decimal digits as swapped semi-octets (3GPP TS 23.040 §9.1.2.3). `value` is 0 to 99. */
export function swappedDigits(value: number): number {
  return ((value % 10) << 4) | Math.floor(value / 10);
}
