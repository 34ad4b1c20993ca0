// The text of a delivery probe. Its token cannot be guessed, and the service stores only a digest of it: no reader of the database or of a
// backup can write a text that the service hides.
import { createHash, randomBytes } from 'node:crypto';

/** 80 bits, hexadecimal. */
const TOKEN_BYTES = 10;
const ID_BYTES = 12;
const ID_PREFIX = 'probe_';
const TEXT = /^Simrack delivery test ([0-9a-f]{20})$/;

export const newProbeToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** Id of a probe, and of the command that begins it. */
export const newProbeId = (): string => `${ID_PREFIX}${randomBytes(ID_BYTES).toString('hex')}`;

export const isProbeId = (commandId: string | null): boolean => commandId?.startsWith(ID_PREFIX) ?? false;

/** Fits one segment. */
export const probeText = (token: string): string => `Simrack delivery test ${token}`;

/** The token in a text; undefined if the text is not exactly that of a probe. */
export const probeTokenIn = (body: string): string | undefined => TEXT.exec(body)?.[1];

/** SHA-256. The token is random, so the digest needs no salt. */
export const probeDigestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Whether `shown` may be the number: networks also show their own numbers in shorter forms. */
export function isTolerablySame(shown: string, number: string): boolean {
  const digits = shown.replace(/\D/g, '');
  return digits.length >= NATIONAL_DIGITS_MIN && number.endsWith(digits);
}

const NATIONAL_DIGITS_MIN = 7;
