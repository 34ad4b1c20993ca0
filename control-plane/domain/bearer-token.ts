// Bearer tokens: 256 random bits behind a prefix that secret scanners can find. Only the hash is stored.
import { createHmac, hash, randomBytes } from 'node:crypto';

const PREFIX = 'simrack_';
const TOKEN_PATTERN = /^simrack_[A-Za-z0-9_-]{43}$/;

/** A new token. It is shown once and never stored. */
export const mintToken = (): string => PREFIX + randomBytes(32).toString('base64url');

/**
 * The token of a payment that its payer named: the same each time, and never stored. `secret`: of the service; the
 * name alone does not give the token.
 */
export const tokenOfPayment = (secret: string, payment: { id: string; identifier: string }): string =>
  PREFIX +
  createHmac('sha256', secret).update(`token ${payment.id} ${payment.identifier}`).digest('base64url');

/** SHA-256 of the whole token, as stored. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');

/** The same in Base64, to find a token in memory. */
export const tokenKey = (token: string): string => hash('sha256', token, 'base64');

/** The token of an `Authorization` header (RFC 6750 §2.1); undefined if there is none or its form is not ours. */
export function tokenOf(authorization: string | undefined): string | undefined {
  const [scheme, token, ...rest] = (authorization ?? '').trim().split(/ +/);
  if (scheme?.toLowerCase() !== 'bearer' || token === undefined || rest.length > 0) return undefined;
  return TOKEN_PATTERN.test(token) ? token : undefined;
}
