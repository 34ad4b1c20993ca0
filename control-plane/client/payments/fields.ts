// Fields of payment challenges as they are on the wire.
import type { Address } from 'viem';
import * as z from 'zod';

export const amountSchema = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);

/** Accepts any letter case; the result is lower case, so no checksum is expected of it. */
export const addressSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text): Address => text.toLowerCase() as Address);

export const isSameAddress = (one: Address, other: Address): boolean =>
  one.toLowerCase() === other.toLowerCase();
