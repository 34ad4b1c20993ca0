// How long a text is as an SMS: alphabet, units, segments. Pure.
import { GSM7_BASIC, GSM7_EXTENSION } from '#shared/gsm7-alphabet.ts';

export type SmsEncoding = 'gsm7' | 'ucs2';

export interface SmsLength {
  encoding: SmsEncoding;
  /** Septets or UTF-16 code units. */
  units: number;
  segments: number;
}

/** Units that fit a message of one segment, and each segment of a longer one (3GPP TS 23.040 §9.2.3.24.1). */
const CAPACITY = {
  gsm7: { single: 160, concatenated: 153 },
  ucs2: { single: 70, concatenated: 67 },
} as const;

const ESCAPE = '\u001b';
const SEPTETS = new Map<string, 1 | 2>();
for (const character of GSM7_BASIC) if (character !== ESCAPE) SEPTETS.set(character, 1);
for (const character of GSM7_EXTENSION.values()) SEPTETS.set(character, 2);

/** Measures a text in the smaller of the two alphabets that can carry it. */
export function measureSms(text: string): SmsLength {
  const septets = [...text].map((character) => SEPTETS.get(character));
  return septets.every((size) => size !== undefined)
    ? measure('gsm7', septets)
    : measure(
        'ucs2',
        [...text].map((character) => character.length),
      );
}

/** Units that `segments` segments hold at most. */
export function unitsMax(encoding: SmsEncoding, segments: number): number {
  const { single, concatenated } = CAPACITY[encoding];
  return segments === 1 ? single : segments * concatenated;
}

// An escape pair or a surrogate pair is never split, so a segment may end with a unit unused.
function measure(encoding: SmsEncoding, sizes: readonly number[]): SmsLength {
  const { single, concatenated } = CAPACITY[encoding];
  const units = sizes.reduce((sum, size) => sum + size, 0);
  if (units <= single) return { encoding, units, segments: 1 };
  let segments = 1;
  let used = 0;
  for (const size of sizes) {
    if (used + size > concatenated) {
      segments += 1;
      used = 0;
    }
    used += size;
  }
  return { encoding, units, segments };
}
