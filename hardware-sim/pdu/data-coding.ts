// The alphabet of user data, from the data coding scheme octet (3GPP TS 23.038 §4).

/** `8bit` is data that is no text. */
export type Alphabet = 'gsm7' | '8bit' | 'ucs2';

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
