// Private keys as options: the key itself, or a file that contains it.
import { readFileSync } from 'node:fs';
import type { Hex } from 'viem';
import * as z from 'zod';

/** Order of secp256k1 (SEC 2 §2.4.1): a private key is below it. */
const KEYS_END = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export const keySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a 0x-prefixed private key of 32 bytes')
  .refine((text) => BigInt(text) > 0n && BigInt(text) < KEYS_END, 'must be a valid private key of secp256k1')
  .transform((text) => text as Hex);

export const keyFileSchema = z.string().transform((path, context): Hex => {
  const problem = (message: string): never => {
    context.addIssue(message);
    return z.NEVER;
  };
  // The name is not shown: it may be the key itself.
  try {
    const parsed = keySchema.safeParse(readFileSync(path, 'utf8').trim());
    return parsed.success
      ? parsed.data
      : problem('the file must contain a 0x-prefixed private key of 32 bytes');
  } catch (error) {
    return problem(`the file cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
});
