// Decodes the text of USSD answers, and packs codes for modems that need that (3GPP TS 27.007 §7.15, 23.038 §5). Pure.
import { packSeptets, septetsOf, textOfSeptets, unpackSeptets } from './gsm7.ts';

const HEXADECIMAL = /^(?:[0-9A-Fa-f]{2})+$/;
/** Matches a text of hexadecimal digits that is not a number. */
const PACKED_LENGTH_MIN = 4;
const CR = 0x0d;

/** Returns the coding of a cell broadcast or a USSD answer (3GPP TS 23.038 §5). */
export function ussdCodingOf(dcs: number): 'gsm7' | 'ucs2' | 'octets' {
  // 0001 0001: UCS2 after a language; 01xx: general coding; 1001: with a header; 1111: data coding and class.
  if (dcs === 0x11) return 'ucs2';
  const group = dcs >> 4;
  if ((group >= 0x4 && group <= 0x7) || group === 0x9) {
    return (['gsm7', 'octets', 'ucs2', 'gsm7'] as const)[(dcs >> 2) & 3] ?? 'gsm7';
  }
  return group === 0xf && (dcs & 0x04) !== 0 ? 'octets' : 'gsm7';
}

/**
 * Returns the text of `+CUSD: <m>,"<str>",<dcs>`. Modems send UCS2 as hexadecimal. They send text of the 7 bit alphabet in
 * the selected character set ("GSM", "IRA", "UCS2"), some (Huawei) as packed septets in hexadecimal.
 */
export function ussdText(str: string, dcs: number, characterSet: string): string {
  const coding = ussdCodingOf(dcs);
  const isHexadecimal = HEXADECIMAL.test(str);
  if (isHexadecimal && str.length % 4 === 0 && (coding === 'ucs2' || characterSet === 'UCS2')) {
    // The language is two letters of the 7 bit alphabet, padded to two octets.
    return utf16(dcs === 0x11 && str.length > 4 ? str.slice(4) : str);
  }
  if (coding === 'octets') return str;
  const packed = isHexadecimal && /[A-F]/.test(str) ? unpacked(str) : undefined;
  if (packed !== undefined) return packed;
  return characterSet === 'GSM'
    ? textOfSeptets(Buffer.from(str, 'latin1').map((octet) => octet & 0x7f))
    : str;
}

/** Returns a code as packed septets in hexadecimal. Throws `RangeError` for characters outside of the alphabet. */
export function packedCode(code: string): string {
  const septets = septetsOf(code);
  if (septets === undefined) throw new RangeError('not in the GSM 7 bit alphabet');
  // §6.1.2.3.1: seven remaining bits would be read as "@".
  if (septets.length % 8 === 7) septets.push(CR);
  return Buffer.from(packSeptets(septets)).toString('hex').toUpperCase();
}

function utf16(hexadecimal: string): string {
  return Buffer.from(hexadecimal, 'hex').swap16().toString('utf16le').replace(/\r/g, '');
}

/** Returns `undefined` for octets that do not unpack to text. */
function unpacked(hexadecimal: string): string | undefined {
  if (hexadecimal.length < PACKED_LENGTH_MIN) return undefined;
  const octets = Buffer.from(hexadecimal, 'hex');
  const text = textOfSeptets(unpackSeptets(octets, Math.floor((octets.length * 8) / 7)));
  const plain = text.replace(/[\r@]$/, '');
  return /^[\x20-\x7e\r\nà-ü€£¥]+$/.test(plain) ? plain.replace(/\r/g, '') : undefined;
}
