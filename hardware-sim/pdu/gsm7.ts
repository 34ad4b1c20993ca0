// The GSM 7 bit default alphabet with its extension table, and the packing of septets (3GPP TS 23.038 §6).

/** 3GPP TS 23.038 §6.2.1, in the order of the codes 0x00 to 0x7F. 0x1B is the escape. */
const DEFAULT_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

/** 3GPP TS 23.038 §6.2.1.1: the characters after the escape. */
const EXTENSION_TABLE: ReadonlyMap<number, string> = new Map([
  [0x0a, '\f'],
  [0x14, '^'],
  [0x28, '{'],
  [0x29, '}'],
  [0x2f, '\\'],
  [0x3c, '['],
  [0x3d, '~'],
  [0x3e, ']'],
  [0x40, '|'],
  [0x65, '€'],
]);

const ESCAPE = 0x1b;

const codesByCharacter: ReadonlyMap<string, readonly number[]> = new Map([
  ...[...DEFAULT_ALPHABET].map((character, code): [string, number[]] => [character, [code]]),
  ...[...EXTENSION_TABLE].map(([code, character]): [string, number[]] => [character, [ESCAPE, code]]),
]);

/**
 * The septets of each character of `text`: one, or two with the escape.
 * `undefined` when a character is in neither table.
 */
export function septetsByCharacter(text: string): (readonly number[])[] | undefined {
  const all: (readonly number[])[] = [];
  for (const character of text) {
    const septets = character === '\u001b' ? undefined : codesByCharacter.get(character);
    if (septets === undefined) return undefined;
    all.push(septets);
  }
  return all;
}

/** Text of septets. An unknown extension shows as the character of the default alphabet (§6.2.1.1). */
export function textFromSeptets(septets: Iterable<number>): string {
  let text = '';
  let isEscaped = false;
  for (const septet of septets) {
    if (!isEscaped && septet === ESCAPE) {
      isEscaped = true;
      continue;
    }
    const plain = septet === ESCAPE ? ' ' : DEFAULT_ALPHABET.charAt(septet);
    text += isEscaped ? (EXTENSION_TABLE.get(septet) ?? plain) : plain;
    isEscaped = false;
  }
  return isEscaped ? `${text} ` : text;
}

/** Octets that `count` septets take behind `fillBits` bits of filling. */
export function packedLength(count: number, fillBits = 0): number {
  return Math.ceil((count * 7 + fillBits) / 8);
}

/** Packs septets, first septet in the low bits (3GPP TS 23.038 §6.1.2.1.1), after `fillBits` zero bits. */
export function packSeptets(septets: readonly number[], fillBits = 0): Buffer {
  const octets = Buffer.alloc(packedLength(septets.length, fillBits));
  septets.forEach((septet, index) => {
    const bit = fillBits + index * 7;
    const position = bit >> 3;
    const spread = septet << (bit & 7);
    octets[position] = (octets[position] ?? 0) | (spread & 0xff);
    if (spread > 0xff) octets[position + 1] = spread >> 8;
  });
  return octets;
}

/** The reverse of `packSeptets`: `count` septets, as many as the octets hold. */
export function unpackSeptets(octets: Uint8Array, count: number, fillBits = 0): number[] {
  return Array.from({ length: count }, (_, index) => {
    const bit = fillBits + index * 7;
    const position = bit >> 3;
    const pair = (octets[position] ?? 0) | ((octets[position + 1] ?? 0) << 8);
    return (pair >> (bit & 7)) & 0x7f;
  });
}
