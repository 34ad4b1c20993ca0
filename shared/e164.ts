// Telephone numbers as E.164 writes them: "+", country code, subscriber number, 15 digits at most.
import * as z from 'zod';

/** Matches an E.164 number with its leading "+" (ITU-T E.164 §6: 15 digits at most). */
export const E164_PATTERN = /^\+[1-9]\d{6,14}$/;

export const e164Schema = z.string().regex(E164_PATTERN);

export function isE164(text: string): boolean {
  return E164_PATTERN.test(text);
}
