// TP-User-Data: its alphabet by the data coding scheme (3GPP TS 23.038 §4), its header, its text and its strict checks
// (3GPP TS 23.040 §9.2.3.16 and §9.2.3.24).
import { packedLength, textFromSeptets, unpackSeptets } from './gsm7.ts';
import { type OctetReader, PduError } from './octets.ts';

/** `8bit` is data that is no text. */
type Alphabet = 'gsm7' | '8bit' | 'ucs2';

/** Default alphabet, no class. */
export const DCS_GSM7 = 0x00;
/** UCS-2, no class. */
export const DCS_UCS2 = 0x08;

/** The alphabet of a data coding scheme. Reserved codings count as the default alphabet (§4). */
export function alphabetOf(dataCodingScheme: number): Alphabet {
  const group = dataCodingScheme >> 4;
  if (group <= 0b0111) return generalGroupAlphabet(dataCodingScheme);
  if (group === 0b1110) return 'ucs2';
  if (group === 0b1111) return (dataCodingScheme & 0x04) === 0 ? 'gsm7' : '8bit';
  return 'gsm7';
}

function generalGroupAlphabet(dataCodingScheme: number): Alphabet {
  // Compressed text (bit 5) cannot be shown: it is data to us.
  if ((dataCodingScheme & 0x20) !== 0) return '8bit';
  const bits = (dataCodingScheme >> 2) & 0b11;
  if (bits === 0b01) return '8bit';
  return bits === 0b10 ? 'ucs2' : 'gsm7';
}

const USER_DATA_OCTETS_MAX = 140;
const USER_DATA_SEPTETS_MAX = 160;

const IEI_CONCATENATION_8_BIT = 0x00;
const IEI_CONCATENATION_16_BIT = 0x08;

/** The part of the user data that goes from a SUBMIT into a DELIVER unchanged. */
export interface UserData {
  dataCodingScheme: number;
  /** TP-UDHI: the octets begin with a header. */
  hasHeader: boolean;
  /** TP-UDL: septets for the 7 bit alphabet (header included), octets otherwise. */
  length: number;
  octets: Buffer;
}

/** Which part of a long message this is. */
export interface Concatenation {
  reference: number;
  referenceBits: 8 | 16;
  total: number;
  /** From 1. */
  part: number;
}

interface InformationElement {
  identifier: number;
  data: Buffer;
}

/** Reads TP-UDL and TP-UD up to the end of the TPDU; both must agree to the octet. Throws `PduError`. */
export function readUserData(reader: OctetReader, dataCodingScheme: number, hasHeader: boolean): UserData {
  const length = reader.octet('user data length');
  const isPacked = alphabetOf(dataCodingScheme) === 'gsm7';
  const octetCount = isPacked ? packedLength(length) : length;
  if (length > (isPacked ? USER_DATA_SEPTETS_MAX : USER_DATA_OCTETS_MAX)) {
    throw new PduError('user data is longer than a short message');
  }
  if (octetCount !== reader.remaining) throw new PduError('user data length does not agree with the data');
  const userData = { dataCodingScheme, hasHeader, length, octets: reader.octets(octetCount, 'user data') };
  concatenationOf(userData);
  return userData;
}

/** The text, without header; `undefined` for 8 bit data. */
export function textOf(userData: UserData): string | undefined {
  const alphabet: Alphabet = alphabetOf(userData.dataCodingScheme);
  const headerOctets = headerLength(userData);
  if (alphabet === '8bit') return undefined;
  if (alphabet === 'ucs2') return textFromUcs2(userData.octets.subarray(headerOctets));
  const headerSeptets = Math.ceil((headerOctets * 8) / 7);
  const septets = unpackSeptets(userData.octets, userData.length).slice(headerSeptets);
  return textFromSeptets(septets);
}

/** UCS-2 as phones send it today: UTF-16, big endian. A lone last octet is dropped. */
export function textFromUcs2(octets: Uint8Array): string {
  const even = Buffer.from(octets.subarray(0, octets.length - (octets.length % 2)));
  return even.swap16().toString('utf16le');
}

/** The reverse of `textFromUcs2`. */
export function ucs2FromText(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

/** Octets of the header with its length octet; 0 without one. */
function headerLength(userData: UserData): number {
  if (!userData.hasHeader) return 0;
  const length = 1 + (userData.octets[0] ?? 0);
  if (length > userData.octets.length) throw new PduError('user data header is longer than the user data');
  return length;
}

/** The concatenation element of the header; `undefined` without one. Throws `PduError` on a broken header. */
export function concatenationOf(userData: UserData): Concatenation | undefined {
  for (const element of informationElements(userData)) {
    const concatenation = concatenationFrom(element);
    if (concatenation !== undefined) return concatenation;
  }
  return undefined;
}

function informationElements(userData: UserData): InformationElement[] {
  const header = userData.octets.subarray(0, headerLength(userData));
  const elements: InformationElement[] = [];
  for (let position = 1; position < header.length; ) {
    const identifier = header[position] ?? 0;
    const length = header[position + 1];
    if (length === undefined || position + 2 + length > header.length) {
      throw new PduError('information element is cut off');
    }
    elements.push({ identifier, data: header.subarray(position + 2, position + 2 + length) });
    position += 2 + length;
  }
  return elements;
}

function concatenationFrom({ identifier, data }: InformationElement): Concatenation | undefined {
  if (identifier === IEI_CONCATENATION_8_BIT && data.length === 3) {
    return validParts({ reference: data.readUInt8(0), referenceBits: 8 }, data.subarray(1));
  }
  if (identifier === IEI_CONCATENATION_16_BIT && data.length === 4) {
    return validParts({ reference: data.readUInt16BE(0), referenceBits: 16 }, data.subarray(2));
  }
  return undefined;
}

/** §9.2.3.24.1: an element with a zero or with part > total is ignored. */
function validParts(
  reference: Pick<Concatenation, 'reference' | 'referenceBits'>,
  parts: Buffer,
): Concatenation | undefined {
  const total = parts.readUInt8(0);
  const part = parts.readUInt8(1);
  return part === 0 || part > total ? undefined : { ...reference, total, part };
}

/** A header with one concatenation element. */
export function concatenationHeader(concatenation: Concatenation): Buffer {
  const { reference, referenceBits, total, part } = concatenation;
  return referenceBits === 8
    ? Buffer.from([5, IEI_CONCATENATION_8_BIT, 3, reference & 0xff, total, part])
    : Buffer.from([6, IEI_CONCATENATION_16_BIT, 4, (reference >> 8) & 0xff, reference & 0xff, total, part]);
}
