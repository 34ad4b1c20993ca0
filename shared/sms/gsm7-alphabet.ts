// The GSM 7 bit default alphabet and its extension table (3GPP TS 23.038 §6.2.1, §6.2.1.1).

/** Position in the string is the septet; 0x1B leads to the extension table. */
export const GSM7_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

/** Characters by the septet after the escape. */
export const GSM7_EXTENSION: ReadonlyMap<number, string> = new Map([
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

export const GSM7_ESCAPE = 0x1b;

const SEPTETS = new Map<string, readonly number[]>([
  ...[...GSM7_ALPHABET].map((char, code): [string, number[]] => [char, [code]]),
  ...[...GSM7_EXTENSION].map(([code, char]): [string, number[]] => [char, [GSM7_ESCAPE, code]]),
]);
SEPTETS.delete('\x1b');

/** The septets of one character: one, or two with the escape; `undefined` when the alphabet lacks it. */
export function septetsOfChar(char: string): readonly number[] | undefined {
  return SEPTETS.get(char);
}
