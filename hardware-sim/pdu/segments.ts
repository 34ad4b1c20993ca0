// Cuts a text into the user data of one or several short messages (3GPP TS 23.040 §9.2.3.24.1).
import { packSeptets, septetsByCharacter } from './gsm7.ts';
import { PduError } from './octets.ts';
import { concatenationHeader, DCS_GSM7, DCS_UCS2, type UserData, ucs2FromText } from './user-data.ts';

/** A concatenation counts its parts in one octet. */
const SEGMENTS_MAX = 255;

/** How to cut. */
interface SegmentOptions {
  /** Default: 7 bit when the alphabet has every character, UCS-2 otherwise. */
  encoding?: 'gsm7' | 'ucs2' | undefined;
  referenceBits: 8 | 16;
  reference: number;
}

/** Never splits an escape pair or a surrogate pair. Throws `PduError` when `encoding` or the bound forbids it. */
export function segmentsOf(text: string, options: SegmentOptions): UserData[] {
  const septets = options.encoding === 'ucs2' ? undefined : septetsByCharacter(text);
  if (septets === undefined && options.encoding === 'gsm7') {
    throw new PduError('body has a character outside the GSM alphabet');
  }
  return septets === undefined ? ucs2Segments(text, options) : gsm7Segments(septets, options);
}

function gsm7Segments(characters: (readonly number[])[], options: SegmentOptions): UserData[] {
  const single = characters.flat();
  if (single.length <= 160) {
    return [
      {
        dataCodingScheme: DCS_GSM7,
        hasHeader: false,
        length: single.length,
        octets: packSeptets(single),
      },
    ];
  }
  const headerOctets = options.referenceBits === 8 ? 6 : 7;
  const headerSeptets = Math.ceil((headerOctets * 8) / 7);
  const parts = partsOf(characters, 160 - headerSeptets).map((part) => part.flat());
  return parts.map((part, index) => {
    const header = headerOf(options, parts.length, index);
    const fillBits = headerSeptets * 7 - headerOctets * 8;
    return {
      dataCodingScheme: DCS_GSM7,
      hasHeader: true,
      length: headerSeptets + part.length,
      octets: Buffer.concat([header, packSeptets(part, fillBits)]),
    };
  });
}

function ucs2Segments(text: string, options: SegmentOptions): UserData[] {
  const single = ucs2FromText(text);
  if (single.length <= 140) {
    return [{ dataCodingScheme: DCS_UCS2, hasHeader: false, length: single.length, octets: single }];
  }
  const headerOctets = options.referenceBits === 8 ? 6 : 7;
  const parts = partsOf([...text], Math.floor((140 - headerOctets) / 2)).map((part) => part.join(''));
  return parts.map((part, index) => {
    const octets = Buffer.concat([headerOf(options, parts.length, index), ucs2FromText(part)]);
    return { dataCodingScheme: DCS_UCS2, hasHeader: true, length: octets.length, octets };
  });
}

/** Fills parts of `size` units with whole characters; a character's units are its length. */
function partsOf<T extends { length: number }>(characters: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  let current: T[] = [];
  let used = 0;
  for (const character of characters) {
    if (used + character.length > size) {
      parts.push(current);
      current = [];
      used = 0;
    }
    current.push(character);
    used += character.length;
  }
  parts.push(current);
  if (parts.length > SEGMENTS_MAX) throw new PduError(`body needs more than ${SEGMENTS_MAX} segments`);
  return parts;
}

function headerOf(options: SegmentOptions, total: number, index: number): Buffer {
  const { reference, referenceBits } = options;
  return concatenationHeader({ reference, referenceBits, total, part: index + 1 });
}
