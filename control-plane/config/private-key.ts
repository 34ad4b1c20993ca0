// Private keys as options: the key itself, or files that contain one each.
import type { Hex } from 'viem';
import * as z from 'zod';
import { secretFileSchema } from './secret-file.ts';

/** Order of secp256k1 (SEC 2 §2.4.1): a private key is below it. */
const KEYS_END = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export const keySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a 0x-prefixed private key of 32 bytes')
  .refine((text) => BigInt(text) > 0n && BigInt(text) < KEYS_END, 'must be a valid private key of secp256k1')
  .transform((text) => text as Hex);

export const keyFileSchema = secretFileSchema.transform((text, context): Hex => {
  const parsed = keySchema.safeParse(text.trim());
  if (parsed.success) return parsed.data;
  context.addIssue('the file must contain a 0x-prefixed private key of 32 bytes');
  return z.NEVER;
});

/** More rotations than are under way at once. */
const FILES_MAX = 8;

/** The keys in a comma-separated list of files, each with one key. */
export const keyFilesSchema = z
  .string()
  .transform((text) => text.split(',').map((path) => path.trim()))
  .pipe(z.array(keyFileSchema).min(1).max(FILES_MAX));
