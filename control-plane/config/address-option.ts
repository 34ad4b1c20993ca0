// An address as an option: in one letter case, or with its checksum (EIP-55).
import type { Address } from 'viem';
import * as z from 'zod';
import { addressOfText, CHECKSUM_PROBLEM, hasWrongChecksum } from './written-address.ts';

/** As it was written. */
export const addressTextSchema = z
  .string({ error: 'required: a 0x-prefixed address' })
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x-prefixed address of 20 bytes');

/** With its checksum. */
export const addressOptionSchema = addressTextSchema
  .refine((text) => !hasWrongChecksum(text), CHECKSUM_PROBLEM)
  .transform((text): Address => addressOfText(text));
