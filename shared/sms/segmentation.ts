// Cuts a text into segments: alphabet, number of units, cut positions (3GPP TS 23.040 §9.2.3.24.1).
import { septetsOfChar } from './gsm7-alphabet.ts';

/** Septets or UTF-16 units that fit into one message, alone and with an 8 bit concatenation header. */
export const SEGMENT_UNITS = {
  gsm7: { single: 160, concatenated: 153 },
  ucs2: { single: 70, concatenated: 67 },
} as const;

/** A text as it goes on the air. */
export interface Segmentation {
  readonly encoding: 'gsm7' | 'ucs2';
  /** Septets or UTF-16 units of the whole text. */
  readonly units: number;
  /** One or more; joined they are the text. */
  readonly segments: readonly string[];
}

/** Cuts a text; never inside an escape pair or a surrogate pair. GSM 7 bit where every character is in it. */
export function segmentText(text: string): Segmentation {
  const chars = [...text];
  const encoding = chars.every((char) => septetsOfChar(char) !== undefined) ? 'gsm7' : 'ucs2';
  const unitsOf = (char: string): number =>
    encoding === 'gsm7' ? (septetsOfChar(char)?.length ?? 0) : char.length;
  const units = chars.reduce((sum, char) => sum + unitsOf(char), 0);
  const { single, concatenated } = SEGMENT_UNITS[encoding];
  if (units <= single) return { encoding, units, segments: [text] };
  const segments: string[] = [];
  let segment = '';
  let used = 0;
  for (const char of chars) {
    if (used + unitsOf(char) > concatenated) {
      segments.push(segment);
      segment = '';
      used = 0;
    }
    segment += char;
    used += unitsOf(char);
  }
  return { encoding, units, segments: [...segments, segment] };
}

/** Up to `max` different characters of the text that the GSM 7 bit alphabet lacks, in their order: they make the whole text UCS-2. */
export function ucs2CharactersOf(text: string, max: number): string[] {
  const found = new Set<string>();
  for (const char of text) {
    if (found.size === max) break;
    if (septetsOfChar(char) === undefined) found.add(char);
  }
  return [...found];
}
