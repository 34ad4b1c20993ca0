// Recovery of a token by wallet signature: the nonce, the text to sign, the check. Offline, no gas.
import { randomBytes } from 'node:crypto';
import { type Address, type Hex, isAddressEqual, recoverMessageAddress } from 'viem';

/** A nonce is worth one attempt within this time. */
export const NONCE_LIFETIME_SECONDS = 300;

/** 128 random bits, hexadecimal. */
export const mintNonce = (): string => randomBytes(16).toString('hex');

/** The exact text a wallet signs. */
export function signInText(serviceDomain: string, nonce: string): string {
  return `Sign in to ${serviceDomain} SMS\nNonce: ${nonce}`;
}

/**
 * True when `wallet` signed the text for `nonce` (EIP-191 personal_sign). The text without the space
 * after "Nonce:" is accepted too: the service document can be read either way.
 */
export async function isSignedBy(
  wallet: Address,
  options: { serviceDomain: string; nonce: string; signature: Hex },
): Promise<boolean> {
  const spaced = signInText(options.serviceDomain, options.nonce);
  for (const message of [spaced, spaced.replace('Nonce: ', 'Nonce:')]) {
    const signer = await recoverMessageAddress({ message, signature: options.signature }).catch(
      () => undefined,
    );
    if (signer !== undefined && isAddressEqual(signer, wallet)) return true;
  }
  return false;
}
