// The data coding scheme of a TPDU: how its user data are to be read (3GPP TS 23.038 §4).

/** How octets of user data are to be read. */
export type Coding = 'gsm7' | 'ucs2' | 'octets' | 'compressed';

/**
 * The coding that a TP-DCS octet stands for. Reserved groups are read as GSM 7 bit, as the standard
 * asks. `compressed` cannot be read.
 */
export function codingOf(dcs: number): Coding {
  const group = dcs >> 4;
  // 00xx: general; 01xx: the same, marked for automatic deletion.
  if (group < 0x8) {
    if (dcs & 0x20) return 'compressed';
    return ALPHABETS[(dcs >> 2) & 3] ?? 'gsm7';
  }
  // 1110: message waiting, UCS2. 1111: data coding and message class. 1000 to 1101: GSM 7 bit.
  if (group === 0xe) return 'ucs2';
  if (group === 0xf && dcs & 0x04) return 'octets';
  return 'gsm7';
}

/** Bits 3 and 2 of the general group; the fourth is reserved. */
const ALPHABETS: readonly Coding[] = ['gsm7', 'octets', 'ucs2', 'gsm7'];
