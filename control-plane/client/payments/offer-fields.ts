// Fields of the offers of a 402, as every protocol writes them.
import * as z from 'zod';
import type { Hex } from './account.ts';

export const amountSchema = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);

/** Accepts any letter case; the result is lower case, so no checksum is expected of it. */
export const addressSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text): Hex => text.toLowerCase() as Hex);
