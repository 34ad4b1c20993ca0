// An address as an operator writes it: in one letter case, or with its checksum (EIP-55).
import { type Address, getAddress } from 'viem';
import * as z from 'zod';

export const CHECKSUM_PROBLEM = 'has a wrong checksum: a character was mistyped. Copy the address again';

/** `text` has the form of an address. A text in one letter case has no checksum. */
export function hasWrongChecksum(text: string): boolean {
  const isMixed = /[a-f]/.test(text) && /[A-F]/.test(text.slice(2));
  return isMixed && getAddress(text.toLowerCase()) !== text;
}

/** With its checksum. */
export const addressOfText = (text: string): Address => getAddress(text.toLowerCase());

/** An option, as it was written. */
export const addressTextSchema = z
  .string({ error: 'required: a 0x-prefixed address' })
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x-prefixed address of 20 bytes');

/** An option, with its checksum. */
export const addressOptionSchema = addressTextSchema
  .refine((text) => !hasWrongChecksum(text), CHECKSUM_PROBLEM)
  .transform(addressOfText);
