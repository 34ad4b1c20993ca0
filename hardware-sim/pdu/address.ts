// Addresses in a TPDU: digits or a name, with the type of address (3GPP TS 23.040 §9.1.2.5); and that of the service center,
// which stands before the TPDU on the line (3GPP TS 27.005 §3.1, `<pdu>`).
import { packSeptets, septetsByCharacter, textFromSeptets, unpackSeptets } from './gsm7.ts';
import { hexFromOctets, type OctetReader, octetsFromHex, PduError } from './octets.ts';

/** Type-of-address octets. */
const TYPE_INTERNATIONAL = 0x91;
/** Type of a number as it is dialed. */
export const TYPE_UNKNOWN = 0x81;
/** Type of a number without its country code. */
export const TYPE_NATIONAL = 0xa1;
const TYPE_ALPHANUMERIC = 0xd0;

/** 3GPP TS 23.040 §9.1.2.5: an address field has at most 12 octets, so at most 20 semi-octets. */
const DIGITS_MAX = 20;
/** 20 semi-octets hold 11 septets. */
export const NAME_SEPTETS_MAX = 11;

const DIGIT_CODES = '0123456789*#abc';

/** An address with its type. */
export interface Address {
  /** Bits 6 to 4 say the type of number: 1 international, 5 alphanumeric; bits 3 to 0 the numbering plan. */
  typeOfAddress: number;
  /** Digits without "+", or the name of an alphanumeric sender. */
  value: string;
}

/** Writes "+15550001234", "12345" or "GOOGLE" as an address. Throws `PduError` when it is too long. */
export function addressFromText(text: string): Address {
  if (/^\+\d+$/.test(text)) return { typeOfAddress: TYPE_INTERNATIONAL, value: text.slice(1) };
  if (/^[\d*#]+$/.test(text)) return { typeOfAddress: TYPE_UNKNOWN, value: text };
  return { typeOfAddress: TYPE_ALPHANUMERIC, value: text };
}

/** An address as people write it: with "+" when its type is international. */
export function addressToText(address: Address): string {
  return isInternational(address) ? `+${address.value}` : address.value;
}

function isInternational(address: Address): boolean {
  return (address.typeOfAddress & 0x70) === 0x10;
}

function isAlphanumeric(typeOfAddress: number): boolean {
  return (typeOfAddress & 0x70) === 0x50;
}

/** Address-Length (useful semi-octets), Type-of-Address, Address-Value. */
export function encodeAddress(address: Address): Buffer {
  if (isAlphanumeric(address.typeOfAddress)) return encodeName(address);
  if (address.value.length > DIGITS_MAX) throw new PduError('address is longer than 20 digits');
  return Buffer.concat([
    Buffer.from([address.value.length, address.typeOfAddress]),
    encodeSemiOctets(address.value),
  ]);
}

function encodeName(address: Address): Buffer {
  const septets = septetsByCharacter(address.value)?.flat();
  if (septets === undefined) throw new PduError('name has a character outside the GSM alphabet');
  if (septets.length > NAME_SEPTETS_MAX) throw new PduError('name is longer than 11 septets');
  const packed = packSeptets(septets);
  const usefulSemiOctets = Math.ceil((septets.length * 7) / 4);
  return Buffer.concat([Buffer.from([usefulSemiOctets, address.typeOfAddress]), packed]);
}

/** Digits as swapped semi-octets; an odd count ends in the filler 0xF. */
function encodeSemiOctets(digits: string): Buffer {
  const codes = [...digits].map((digit) => DIGIT_CODES.indexOf(digit));
  if (codes.includes(-1)) throw new PduError('address has a character that is no digit');
  const octets = Buffer.alloc(Math.ceil(codes.length / 2), 0xff);
  codes.forEach((code, index) => {
    const position = index >> 1;
    const octet = octets.readUInt8(position);
    octets[position] = index % 2 === 0 ? (octet & 0xf0) | code : (octet & 0x0f) | (code << 4);
  });
  return octets;
}

/** Reads an address as strictly as a network does. Throws `PduError`. */
export function readAddress(reader: OctetReader, field: string): Address {
  const length = reader.octet(`${field} length`);
  const typeOfAddress = reader.octet(`${field} type`);
  if (length === 0) throw new PduError(`${field} is empty`);
  if (length > DIGITS_MAX) throw new PduError(`${field} is longer than 20 digits`);
  if ((typeOfAddress & 0x80) === 0) throw new PduError(`${field} type of address has no bit 7`);
  const octets = reader.octets(Math.ceil(length / 2), field);
  if (isAlphanumeric(typeOfAddress)) {
    return {
      typeOfAddress,
      value: textFromSeptets(unpackSeptets(octets, Math.floor((length * 4) / 7))),
    };
  }
  return { typeOfAddress, value: readSemiOctets(octets, length, field) };
}

function readSemiOctets(octets: Buffer, count: number, field: string): string {
  let digits = '';
  for (let index = 0; index < count; index++) {
    const octet = octets.readUInt8(index >> 1);
    const code = index % 2 === 0 ? octet & 0x0f : octet >> 4;
    if (code === 0x0f) throw new PduError(`${field} has a filler among its digits`);
    digits += DIGIT_CODES.charAt(code);
  }
  if (count % 2 === 1 && (octets.at(-1) ?? 0) >> 4 !== 0x0f) throw new PduError(`${field} has no filler`);
  return digits;
}

/** 3GPP TS 24.011 §8.2.5.2: an RP address has at most 11 octets behind its length. */
const SERVICE_CENTRE_OCTETS_MAX = 11;

/** Hex of the service center address and the TPDU. `serviceCentre` is E.164. */
export function linePduOf(serviceCentre: string, tpdu: Buffer): string {
  const digits = encodeSemiOctets(serviceCentre.replace('+', ''));
  const head = Buffer.from([digits.length + 1, TYPE_INTERNATIONAL]);
  return hexFromOctets(Buffer.concat([head, digits, tpdu]));
}

/** The TPDU behind the service center address, whatever length that has. Throws `PduError`. */
export function tpduOfLinePdu(hex: string): Buffer {
  const octets = octetsFromHex(hex);
  const addressLength = octets[0];
  if (addressLength === undefined) throw new PduError('PDU is empty');
  if (addressLength > SERVICE_CENTRE_OCTETS_MAX) throw new PduError('service center address is too long');
  if (octets.length <= 1 + addressLength) throw new PduError('PDU ends in the service center address');
  return octets.subarray(1 + addressLength);
}
