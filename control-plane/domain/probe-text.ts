// The text of a delivery probe: its token cannot be guessed, so that what carries it is no message of anybody else.
import { randomBytes } from 'node:crypto';

/** 80 bits, hexadecimal. */
const TOKEN_BYTES = 10;
const TEXT = /^Simrack delivery test ([0-9a-f]{20})$/;

export const newProbeToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** Fits one segment. */
export const probeText = (token: string): string => `Simrack delivery test ${token}`;

/** The token in a text; undefined where it is not that of a probe. */
export const probeTokenIn = (body: string): string | undefined => TEXT.exec(body.trim())?.[1];

/** Whether `told` may be the number: networks show the numbers of their own in shorter forms, too. */
export function isTolerablySame(told: string, number: string): boolean {
  const digits = told.replace(/\D/g, '');
  return digits.length >= NATIONAL_DIGITS_MIN && number.endsWith(digits);
}

const NATIONAL_DIGITS_MIN = 7;
