// National language shift tables of the GSM 7 bit alphabet (3GPP TS 23.038 §6.2.1.2, annex A).
import { GSM7_ALPHABET, GSM7_EXTENSION } from '#shared/sms/gsm7-alphabet.ts';

/** Single shift tables by their identifier: they replace the extension table. */
export const SINGLE_SHIFT: ReadonlyMap<number, ReadonlyMap<number, string>> = new Map([
  [1, extended({ G: 'Ğ', I: 'İ', S: 'Ş', c: 'ç', g: 'ğ', i: 'ı', s: 'ş' })],
  [2, extended({ Ç: 'ç', A: 'Á', I: 'Í', O: 'Ó', U: 'Ú', a: 'á', i: 'í', o: 'ó', u: 'ú' })],
  [
    3,
    extended({
      ...{ é: 'ê', Ç: 'ç', Ø: 'Ô', ø: 'ô', Å: 'Á', å: 'á', Φ: 'Φ', Γ: 'Γ', Ω: 'Ω', Π: 'Π', Ψ: 'Ψ', Σ: 'Σ' },
      ...{ Θ: 'Θ', É: 'Ê', A: 'À', I: 'Í', O: 'Ó', U: 'Ú', Ä: 'Ã', Ö: 'Õ', a: 'Â', i: 'í', o: 'ó', u: 'ú' },
      ...{ ä: 'ã', ö: 'õ', à: 'â' },
    }),
  ],
]);

/** Locking shift tables by their identifier: they replace the default alphabet. */
export const LOCKING_SHIFT: ReadonlyMap<number, string> = new Map([
  [1, replaced({ è: '€', ì: 'ı', Ø: 'Ğ', ø: 'ğ', Æ: 'Ş', æ: 'ş', '¡': 'İ', '¿': 'ç' })],
  [
    3,
    replaced({
      ...{ è: 'ê', ù: 'ú', ì: 'í', ò: 'ó', Ç: 'ç', Ø: 'Ô', ø: 'ô', Å: 'Á', å: 'á', Φ: 'ª', Γ: 'Ç', Λ: 'À' },
      ...{ Ω: '∞', Π: '^', Ψ: '\\', Σ: '€', Θ: 'Ó', Ξ: '|', Æ: 'Â', æ: 'â', ß: 'Ê', '¤': 'º', '¡': 'Í' },
      ...{ Ä: 'Ã', Ö: 'Õ', Ñ: 'Ú', '¿': '~', ä: 'ã', ö: 'õ', ñ: '`' },
    }),
  ],
]);

/** The default extension table and more; keys are what the default alphabet has in that position. */
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
