// The text of USSD answers, and codes for modems that want them packed (3GPP TS 27.007 §7.15, 23.038 §5). Pure.
import { packSeptets, septetsOf, textOfSeptets, unpackSeptets } from './gsm7.ts';

const HEXADECIMAL = /^(?:[0-9A-Fa-f]{2})+$/;
/** Of a text that is made of these digits alone and is no number. */
const PACKED_LENGTH_MIN = 4;
const CR = 0x0d;

/** How the octets of a cell broadcast or a USSD answer are to be read (3GPP TS 23.038 §5). */
export function ussdCodingOf(dcs: number): 'gsm7' | 'ucs2' | 'octets' {
  // 0001 0001: UCS2 behind a language; 01xx: general coding; 1001: with a header; 1111: data coding and class.
  if (dcs === 0x11) return 'ucs2';
  const group = dcs >> 4;
  if ((group >= 0x4 && group <= 0x7) || group === 0x9) {
    return (['gsm7', 'octets', 'ucs2', 'gsm7'] as const)[(dcs >> 2) & 3] ?? 'gsm7';
  }
  return group === 0xf && (dcs & 0x04) !== 0 ? 'octets' : 'gsm7';
}

/**
 * The text of `+CUSD: <m>,"<str>",<dcs>`. Modems give UCS2 as hexadecimal; text of the 7 bit alphabet as characters of
 * the chosen set ("GSM", "IRA", "UCS2"), some (Huawei) as hexadecimal of packed septets.
 */
export function ussdText(str: string, dcs: number, characterSet: string): string {
  const coding = ussdCodingOf(dcs);
  const isHexadecimal = HEXADECIMAL.test(str);
  if (isHexadecimal && str.length % 4 === 0 && (coding === 'ucs2' || characterSet === 'UCS2')) {
    // The language is two letters of the 7 bit alphabet, filled up to two octets.
    return utf16(dcs === 0x11 && str.length > 4 ? str.slice(4) : str);
  }
  if (coding === 'octets') return str;
  const packed = isHexadecimal && /[A-F]/.test(str) ? unpacked(str) : undefined;
  if (packed !== undefined) return packed;
  return characterSet === 'GSM'
    ? textOfSeptets(Buffer.from(str, 'latin1').map((octet) => octet & 0x7f))
    : str;
}

/** A code as hexadecimal of packed septets. Throws `RangeError` for characters outside of the alphabet. */
export function packedCode(code: string): string {
  const septets = septetsOf(code);
  if (septets === undefined) throw new RangeError('not in the GSM 7 bit alphabet');
  // §6.1.2.3.1: seven bits that are left over would be read as "@".
  if (septets.length % 8 === 7) septets.push(CR);
  return Buffer.from(packSeptets(septets)).toString('hex').toUpperCase();
}

function utf16(hexadecimal: string): string {
  return Buffer.from(hexadecimal, 'hex').swap16().toString('utf16le').replace(/\r/g, '');
}

/** `undefined` for octets that give no text when they are unpacked. */
function unpacked(hexadecimal: string): string | undefined {
  if (hexadecimal.length < PACKED_LENGTH_MIN) return undefined;
  const octets = Buffer.from(hexadecimal, 'hex');
  const text = textOfSeptets(unpackSeptets(octets, Math.floor((octets.length * 8) / 7)));
  const plain = text.replace(/[\r@]$/, '');
  return /^[\x20-\x7e\r\nà-ü€£¥]+$/.test(plain) ? plain.replace(/\r/g, '') : undefined;
}
