// Encodes, decodes and packs text in the GSM 7 bit alphabet (3GPP TS 23.038 §6.1, §6.2).
import { GSM7_ALPHABET, GSM7_ESCAPE, GSM7_EXTENSION, septetsOfChar } from '#shared/sms/gsm7-alphabet.ts';

/** Returns the septets of a text; `undefined` if a character is not in the alphabet. */
export function septetsOf(text: string): number[] | undefined {
  const septets: number[] = [];
  for (const char of text) {
    const codes = septetsOfChar(char);
    if (codes === undefined) return undefined;
    septets.push(...codes);
  }
  return septets;
}

/**
 * Returns the text of septets. An escape to a position that the extension table lacks gives the character of
 * the main table (3GPP TS 23.038 §6.2.1.1). An escape at the end, or a double escape, gives a blank.
 */
export function textOfSeptets(
  septets: Iterable<number>,
  alphabet: string = GSM7_ALPHABET,
  extension: ReadonlyMap<number, string> = GSM7_EXTENSION,
): string {
  let text = '';
  let escaped = false;
  for (const septet of septets) {
    if (escaped) text += septet === GSM7_ESCAPE ? ' ' : (extension.get(septet) ?? alphabet.charAt(septet));
    else if (septet !== GSM7_ESCAPE) text += alphabet.charAt(septet);
    escaped = !escaped && septet === GSM7_ESCAPE;
  }
  return escaped ? `${text} ` : text;
}

/** Packs septets, with `fillBits` before the first one (3GPP TS 23.038 §6.1.2.1.1). */
export function packSeptets(septets: readonly number[], fillBits = 0): Uint8Array {
  const octets = new Uint8Array(Math.ceil((septets.length * 7 + fillBits) / 8));
  septets.forEach((septet, index) => {
    const bit = index * 7 + fillBits;
    const position = bit >> 3;
    const shifted = septet << (bit & 7);
    octets[position] = (octets[position] ?? 0) | (shifted & 0xff);
    if (shifted > 0xff) octets[position + 1] = shifted >> 8;
  });
  return octets;
}

/** Unpacks `count` septets, with `fillBits` before the first one. Missing octets count as zero. */
export function unpackSeptets(octets: Uint8Array, count: number, fillBits = 0): number[] {
  return Array.from({ length: count }, (_, index) => {
    const bit = index * 7 + fillBits;
    const position = bit >> 3;
    const pair = (octets[position] ?? 0) | ((octets[position + 1] ?? 0) << 8);
    return (pair >> (bit & 7)) & 0x7f;
  });
}

/** Returns the number of bits between a user data header and the first septet (3GPP TS 23.040 §9.2.3.24). */
export function fillBitsAfter(headerOctets: number): number {
  return (7 - ((headerOctets * 8) % 7)) % 7;
}
