// Identifiers of SIM cards, modems and telephone lines.
import * as z from 'zod';

/** ITU-T E.118: the number of a SIM card, 18 to 22 digits, without a padding "F". */
export const iccidSchema = z.string().regex(/^\d{18,22}$/);

/** 3GPP TS 23.003 §6.2.1: 15 digits with the check digit, 14 without. */
export const imeiSchema = z.string().regex(/^\d{14,16}$/);

/** Matches an E.164 number with its leading "+" (ITU-T E.164 §6: 15 digits at most). */
export const E164_PATTERN = /^\+[1-9]\d{6,14}$/;

export const e164Schema = z.string().regex(E164_PATTERN);

export function isE164(text: string): boolean {
  return E164_PATTERN.test(text);
}
