// National language shift tables of the GSM 7 bit alphabet (3GPP TS 23.038 §6.2.1.2, annex A).
import { GSM7_ALPHABET, GSM7_EXTENSION } from '#shared/sms/gsm7-alphabet.ts';
import { charactersIn, INDIC_LOCKING, INDIC_SINGLE } from './national-language-ranges.ts';

/**
 * Returns the table that replaces the default alphabet. Unassigned language identifiers must be ignored
 * (3GPP TS 23.040 §9.2.3.24.16).
 */
export function lockingShiftTable(identifier: number | undefined): string {
  return LOCKING_SHIFT.get(identifier ?? 0) ?? GSM7_ALPHABET;
}

/** Returns the table that replaces the extension table. Unassigned identifiers are ignored (3GPP TS 23.040 §9.2.3.24.15). */
export function singleShiftTable(identifier: number | undefined): ReadonlyMap<number, string> {
  return SINGLE_SHIFT.get(identifier ?? 0) ?? GSM7_EXTENSION;
}

/** The common part of all locking tables of the languages of the Indian subcontinent. Each language fills the dots. */
const INDIC_LOCKING_FRAME = [
  '··········\n··\r·············\x1b····',
  ' !······)(··,·.·0123456789:;···?',
  '································',
  '·abcdefghijklmnopqrstuvwxyz·····',
].join('');
/** The common part of their single shift tables. Blanks are positions without a character. */
const INDIC_SINGLE_FRAME = [
  '@£$¥¿"¤%&\'\f*+ -/<=>¡^¡_#*·· ····',
  '········{}·····\\············[~]·',
  '|ABCDEFGHIJKLMNOPQRSTUVWXYZ     ',
  '     €                          ',
].join('');
const OPEN = '·';

const LOCKING_SHIFT: ReadonlyMap<number, string> = new Map([
  [1, replaced({ è: '€', ì: 'ı', Ø: 'Ğ', ø: 'ğ', Æ: 'Ş', æ: 'ş', '¡': 'İ', '¿': 'ç' })],
  // 2, Spanish, has a single shift table only.
  [
    3,
    replaced({
      è: 'ê',
      ù: 'ú',
      ì: 'í',
      ò: 'ó',
      Ç: 'ç',
      Ø: 'Ô',
      ø: 'ô',
      Å: 'Á',
      å: 'á',
      Φ: 'ª',
      Γ: 'Ç',
      Λ: 'À',
      Ω: '∞',
      Π: '^',
      Ψ: '\\',
      Σ: '€',
      Θ: 'Ó',
      Ξ: '|',
      Æ: 'Â',
      æ: 'â',
      ß: 'Ê',
      '¤': 'º',
      '¡': 'Í',
      Ä: 'Ã',
      Ö: 'Õ',
      Ñ: 'Ú',
      '¿': '~',
      ä: 'ã',
      ö: 'õ',
      ñ: '`',
    }),
  ],
  ...[...INDIC_LOCKING].map(([identifier, ranges]): [number, string] => [identifier, indicLocking(ranges)]),
]);

const SINGLE_SHIFT: ReadonlyMap<number, ReadonlyMap<number, string>> = new Map([
  [1, extended({ G: 'Ğ', I: 'İ', S: 'Ş', c: 'ç', g: 'ğ', i: 'ı', s: 'ş' })],
  [2, extended({ Ç: 'ç', A: 'Á', I: 'Í', O: 'Ó', U: 'Ú', a: 'á', i: 'í', o: 'ó', u: 'ú' })],
  [
    3,
    extended({
      é: 'ê',
      Ç: 'ç',
      Ø: 'Ô',
      ø: 'ô',
      Å: 'Á',
      å: 'á',
      Φ: 'Φ',
      Γ: 'Γ',
      Ω: 'Ω',
      Π: 'Π',
      Ψ: 'Ψ',
      Σ: 'Σ',
      Θ: 'Θ',
      É: 'Ê',
      A: 'À',
      I: 'Í',
      O: 'Ó',
      U: 'Ú',
      Ä: 'Ã',
      Ö: 'Õ',
      a: 'Â',
      i: 'í',
      o: 'ó',
      u: 'ú',
      ä: 'ã',
      ö: 'õ',
      à: 'â',
    }),
  ],
  ...[...INDIC_SINGLE].map(([identifier, ranges]): [number, ReadonlyMap<number, string>] => [
    identifier,
    indicSingle(ranges),
  ]),
]);

/** Returns the default extension table with additions. Keys are the characters of the default alphabet at the same position. */
function extended(additions: Record<string, string>): ReadonlyMap<number, string> {
  const codes = Object.entries(additions).map(([key, char]): [number, string] => [
    GSM7_ALPHABET.indexOf(key),
    char,
  ]);
  return new Map([...GSM7_EXTENSION, ...codes]);
}

function replaced(replacements: Record<string, string>): string {
  return [...GSM7_ALPHABET].map((char) => replacements[char] ?? char).join('');
}

function indicLocking(ranges: string): string {
  const characters = charactersIn(ranges)[Symbol.iterator]();
  // A position without a character is shown as a blank.
  const charOf = (char: string): string => (char === OPEN ? (characters.next().value ?? ' ') : char);
  return [...INDIC_LOCKING_FRAME].map(charOf).join('');
}

function indicSingle(ranges: string): ReadonlyMap<number, string> {
  const characters = charactersIn(ranges)[Symbol.iterator]();
  const codes = [...INDIC_SINGLE_FRAME].map((char, code): [number, string | undefined] => [
    code,
    char === OPEN ? characters.next().value : char,
  ]);
  return new Map(codes.filter((each): each is [number, string] => each[1] !== undefined && each[1] !== ' '));
}
