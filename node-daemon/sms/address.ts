// Encodes and decodes address fields of a TPDU: numbers as swapped semi-octets, names as septets (3GPP TS 23.040 §9.1.2.5).
import { indicationOf, type WaitingIndication } from './data-coding.ts';
import { textOfSeptets, unpackSeptets } from './gsm7.ts';
import { TpduError } from './tpdu-error.ts';

const TYPE_INTERNATIONAL = 0x91;
const TON_INTERNATIONAL = 1;
const TON_ALPHANUMERIC = 5;
/** 3GPP TS 23.040 §9.1.2.5: at most 12 octets, two of them length and type. */
const SEMI_OCTETS_MAX = 20;
const DIGITS = '0123456789*#abc';

/** Encodes an E.164 number: length in digits, type of address, swapped digits. */
export function encodeAddress(number: string): Uint8Array {
  const digits = number.replace(/^\+/, '');
  if (!/^\d{1,20}$/.test(digits)) throw new TpduError('a recipient must be a number of 1 to 20 digits');
  const padded = digits.length % 2 === 0 ? digits : `${digits}f`;
  const swapped = padded.replace(/(.)(.)/g, '$2$1');
  return Uint8Array.of(digits.length, TYPE_INTERNATIONAL, ...Buffer.from(swapped, 'hex'));
}

/** Returns the size in octets of an address field with this length octet, which counts useful semi-octets. */
export function addressOctets(semiOctets: number): number {
  return 2 + Math.ceil(semiOctets / 2);
}

/**
 * Decodes an address field, whose first octet counts semi-octets: "+" and digits for an international
 * number, digits (and `*#abc`) for any other, text for a name. Throws `TpduError`.
 */
export function decodeAddress(field: Uint8Array): string {
  const [semiOctets = 0, type = 0] = field;
  if (semiOctets > SEMI_OCTETS_MAX) throw new TpduError(`an address of ${semiOctets} semi-octets`);
  const value = field.subarray(2);
  const typeOfNumber = (type >> 4) & 7;
  if (typeOfNumber === TON_ALPHANUMERIC) {
    const name = textOfSeptets(unpackSeptets(value, Math.floor((semiOctets * 4) / 7)));
    // Anyone can set a name, so control characters must not reach logs and terminals.
    return name.replace(/\p{Cc}/gu, '');
  }
  const digits = digitsOf(value, semiOctets);
  return typeOfNumber === TON_INTERNATIONAL && digits !== '' ? `+${digits}` : digits;
}

/**
 * Reads a voice mail indication in place of a sender's address: two octets marked as a name (Common PCN Handset Specification 4.2, B.4.2).
 * The first bit shows whether messages wait, the fifth that it is such an address.
 */
export function decodeVoicemailAddress(field: Uint8Array): WaitingIndication | undefined {
  const [semiOctets, type = 0, flags = 0] = field;
  const isIndication = semiOctets === 4 && (type & 0x7f) === TON_ALPHANUMERIC << 4 && (flags & 0x7e) === 0x10;
  return isIndication ? indicationOf(0, (flags & 1) === 1) : undefined;
}

/** Returns swapped semi-octets as digits, up to the filler 0xF. */
function digitsOf(octets: Uint8Array, count: number): string {
  let digits = '';
  for (let index = 0; index < count; index += 1) {
    const octet = octets[index >> 1] ?? 0xff;
    const semiOctet = index % 2 === 0 ? octet & 0x0f : octet >> 4;
    if (semiOctet === 0x0f) break;
    digits += DIGITS.charAt(semiOctet);
  }
  return digits;
}
