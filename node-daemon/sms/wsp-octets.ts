// Reads the values of WSP header fields (WAP-230-WSP §8.4.1 and §8.4.2). Pure.
import { TpduError } from './tpdu-error.ts';

/** The octets end inside a value. */
export class OctetsEndError extends TpduError {
  override name = 'OctetsEndError';
}

const LENGTH_QUOTE = 31;
const QUOTE = 0x7f;
/** A uintvar has at most 5 octets of 7 bits (§8.1.2). */
const UINTVAR_OCTETS_MAX = 5;
/** MIBEnum of a character set (IANA). */
const CHARSET_UTF8 = 106;

/** Reads values one by one. Throws `OctetsEndError` if octets are missing, `TpduError` if they are not of that type. */
export class WspReader {
  readonly #octets: Uint8Array;
  #position = 0;

  constructor(octets: Uint8Array) {
    this.#octets = octets;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#octets.length;
  }

  octet(): number {
    const octet = this.#octets[this.#position];
    if (octet === undefined) throw new OctetsEndError('ends inside a header field');
    this.#position += 1;
    return octet;
  }

  octets(count: number): Uint8Array {
    const end = this.#position + count;
    if (end > this.#octets.length) throw new OctetsEndError('ends inside a header field');
    const taken = this.#octets.subarray(this.#position, end);
    this.#position = end;
    return taken;
  }

  rest(): Uint8Array {
    return this.octets(this.#octets.length - this.#position);
  }

  /** Unsigned integer of variable length. */
  uintvar(): number {
    let value = 0;
    for (let count = 0; count < UINTVAR_OCTETS_MAX; count += 1) {
      const octet = this.octet();
      value = value * 128 + (octet & 0x7f);
      if (octet < 0x80) return value;
    }
    throw new TpduError('a length of more than 5 octets');
  }

  /** Octets of a value that begins with its length. */
  lengthPrefixed(): Uint8Array {
    const length = this.octet();
    if (length > LENGTH_QUOTE) throw new TpduError('a value without length');
    return this.octets(length === LENGTH_QUOTE ? this.uintvar() : length);
  }

  /** Short or long integer. Larger ones than a double holds lose precision. */
  integer(): number {
    const first = this.octet();
    if (first >= 0x80) return first & 0x7f;
    if (first === 0 || first > 30) throw new TpduError('a value that is not an integer');
    return this.octets(first).reduce((value, octet) => value * 256 + octet, 0);
  }

  /** Text that ends with NUL, as octets of Latin-1. */
  text(): string {
    return this.#textOctets().toString('latin1');
  }

  /** Text with an optional character set (OMA-MMS-ENC §7.3.9). */
  encodedText(): string {
    const next = this.#octets[this.#position] ?? 0;
    if (next > LENGTH_QUOTE) return this.text();
    const value = new WspReader(this.lengthPrefixed());
    const charset = value.integer();
    return value.#textOctets().toString(charset === CHARSET_UTF8 ? 'utf8' : 'latin1');
  }

  /** Passes over a value of any type (§8.4.1.2). */
  skipValue(): void {
    const next = this.#octets[this.#position] ?? 0;
    if (next <= LENGTH_QUOTE) this.lengthPrefixed();
    else if (next >= 0x80) this.octet();
    else this.text();
  }

  #textOctets(): Buffer {
    const end = this.#octets.indexOf(0, this.#position);
    if (end < 0) throw new OctetsEndError('ends inside a text');
    const octets = this.#octets.subarray(this.#position, end);
    this.#position = end + 1;
    // A text that begins with an octet above 127 is quoted.
    return Buffer.from(octets[0] === QUOTE ? octets.subarray(1) : octets);
  }
}
