// Token recovery by wallet signature: the nonce, the text to sign, its digests. It needs no chain and no gas.
import { randomBytes } from 'node:crypto';
import { type Hex, hashMessage } from 'viem';

/** A nonce is valid for one attempt within this time. */
export const NONCE_LIFETIME_SECONDS = 300;

/** 128 random bits, hexadecimal. */
export const mintNonce = (): string => randomBytes(16).toString('hex');

/** The exact text a wallet signs. */
export function signInText(serviceDomain: string, nonce: string): string {
  return `Sign in to ${serviceDomain} SMS\nNonce: ${nonce}`;
}

/**
 * Digests (EIP-191, personal_sign) of the texts that may be signed for `nonce`. Text without the space after "Nonce:" is accepted too,
 * because the service document can be read either way.
 */
export function signInDigests(serviceDomain: string, nonce: string): Hex[] {
  const spaced = signInText(serviceDomain, nonce);
  return [spaced, spaced.replace('Nonce: ', 'Nonce:')].map((text) => hashMessage(text));
}
