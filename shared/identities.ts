// Identifiers of SIM cards, modems and telephone lines.
import * as z from 'zod';

/** ITU-T E.118: the number of a SIM card, 18 to 22 digits, without a padding "F". */
export const iccidSchema = z.string().regex(/^\d{18,22}$/);

/** Whether the last digit is the check digit of those before it (ITU-T E.118, ISO/IEC 7812-1 annex B: Luhn). */
export function hasLuhnDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const weighted = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}

/** 3GPP TS 23.003 §6.2.1: 15 digits with the check digit, 14 without. */
export const imeiSchema = z.string().regex(/^\d{14,16}$/);

/** Matches an E.164 number with its leading "+" (ITU-T E.164 §6: 15 digits at most). */
export const E164_PATTERN = /^\+[1-9]\d{6,14}$/;

/** A number as people write it in the US: ten digits, with or without a 1 before them. */
const US_NUMBER = /^1?([2-9]\d{9})$/;

/**
 * Returns the problem of a number that is not E.164: its `form`, and the number that was probably meant. `likelyNumber` knows more forms, but
 * its library would delay each command of an operator by 20 ms.
 */
export function e164Problem(form: string, typed: unknown): string {
  const digits = typeof typed === 'string' ? typed.replace(/[\s().+-]/g, '') : '';
  const subscriber = US_NUMBER.exec(digits)?.[1];
  return subscriber === undefined ? form : `${form}. Did you mean +1${subscriber}?`;
}

export const e164Schema = z.string().regex(E164_PATTERN);

export function isE164(text: string): boolean {
  return E164_PATTERN.test(text);
}
