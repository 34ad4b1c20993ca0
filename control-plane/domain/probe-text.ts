// The text of a delivery probe. Its token cannot be guessed, so a text with it is certainly the probe.
import { randomBytes } from 'node:crypto';

/** 80 bits, hexadecimal. */
const TOKEN_BYTES = 10;
const TEXT = /^Simrack delivery test ([0-9a-f]{20})$/;

export const newProbeToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** Fits one segment. */
export const probeText = (token: string): string => `Simrack delivery test ${token}`;

/** The token in a text; undefined if the text is not a probe's. */
export const probeTokenIn = (body: string): string | undefined => TEXT.exec(body.trim())?.[1];

/** Whether `shown` may be the number: networks also show their own numbers in shorter forms. */
export function isTolerablySame(shown: string, number: string): boolean {
  const digits = shown.replace(/\D/g, '');
  return digits.length >= NATIONAL_DIGITS_MIN && number.endsWith(digits);
}

const NATIONAL_DIGITS_MIN = 7;
