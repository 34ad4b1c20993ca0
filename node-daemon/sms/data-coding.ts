// Reads the data coding scheme of a TPDU: the coding and the purpose of its user data (3GPP TS 23.038 §4).

/** The coding of user data. */
export type Coding = 'gsm7' | 'ucs2' | 'octets' | 'compressed';

/** An indication of other waiting messages: voice mail, fax, e-mail. */
export interface WaitingIndication {
  readonly about: 'voicemail' | 'fax' | 'email' | 'other';
  /** Whether such messages are waiting. */
  readonly isActive: boolean;
}

/** The contents of a TP-DCS octet. */
export interface DataCoding {
  /** `compressed` text cannot be decoded. */
  readonly coding: Coding;
  /** 0: show at once ("flash"). 1 and 2: where to store it. 3: for the terminal equipment. */
  readonly messageClass: 0 | 1 | 2 | 3 | undefined;
  readonly indication: WaitingIndication | undefined;
}

/** Bits 3 and 2 of the general groups; the fourth is reserved. */
const ALPHABETS: readonly Coding[] = ['gsm7', 'octets', 'ucs2', 'gsm7'];
const CLASSES = [0, 1, 2, 3] as const;
const ABOUT = ['voicemail', 'fax', 'email', 'other'] as const;

/** Reads a TP-DCS octet. Reserved groups are GSM 7 bit, as the standard requires. */
export function dataCodingOf(dcs: number): DataCoding {
  const group = dcs >> 4;
  // 00xx: general; 01xx: the same, marked for automatic deletion.
  if (group < 0x8) {
    const coding = dcs & 0x20 ? 'compressed' : (ALPHABETS[(dcs >> 2) & 3] ?? 'gsm7');
    return { coding, messageClass: dcs & 0x10 ? classOf(dcs) : undefined, indication: undefined };
  }
  // 1100: message waiting, the text may be discarded; 1101: stored; 1110: stored, UCS2.
  if (group >= 0xc && group <= 0xe) {
    const indication = indicationOf(dcs & 3, (dcs & 0x08) !== 0);
    return { coding: group === 0xe ? 'ucs2' : 'gsm7', messageClass: undefined, indication };
  }
  // 1111: data coding and message class. 1000 to 1011 are reserved.
  if (group < 0xc) return { coding: 'gsm7', messageClass: undefined, indication: undefined };
  return { coding: dcs & 0x04 ? 'octets' : 'gsm7', messageClass: classOf(dcs), indication: undefined };
}

/** Returns the indication that the two lowest bits name (3GPP TS 23.040 §9.2.3.24.2 uses the same numbers). */
export function indicationOf(kind: number, isActive: boolean): WaitingIndication {
  return { about: ABOUT[kind & 3] ?? 'other', isActive };
}

function classOf(dcs: number): DataCoding['messageClass'] {
  return CLASSES[dcs & 3];
}
