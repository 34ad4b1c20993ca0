// An address as an operator writes it: in one letter case, or with its checksum (EIP-55).
import { type Address, getAddress } from 'viem';

export const CHECKSUM_PROBLEM = 'has a wrong checksum: a character was mistyped. Copy the address again';

/** `text` has the form of an address. A text in one letter case has no checksum. */
export function hasWrongChecksum(text: string): boolean {
  const isMixed = /[a-f]/.test(text) && /[A-F]/.test(text.slice(2));
  return isMixed && getAddress(text.toLowerCase()) !== text;
}

/** With its checksum. */
export const addressOfText = (text: string): Address => getAddress(text.toLowerCase());
