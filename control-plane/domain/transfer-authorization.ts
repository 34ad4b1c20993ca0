// A transfer that a payer has signed (EIP-3009).
import type { Hex } from 'viem';
import * as z from 'zod';
import { bigintOutput } from '#shared/json-codec.ts';

export const hexSchema = z.templateLiteral(['0x', z.string()]);

/** Identifies a transfer of a token on its chain. */
export const authorizedTransferSchema = z.object({
  /** The token contract. */
  asset: hexSchema,
  from: hexSchema,
  to: hexSchema,
  /** Smallest units. */
  value: bigintOutput,
  nonce: hexSchema,
});
export type AuthorizedTransfer = z.output<typeof authorizedTransferSchema>;

/** EIP-3009 `TransferWithAuthorization` as it was signed. */
export interface TransferAuthorization extends AuthorizedTransfer {
  chainId: number;
  /** Seconds since the Unix epoch; valid strictly between the two. */
  validAfter: bigint;
  validBefore: bigint;
  /** 65 bytes from a key; any length from a contract account. */
  signature: Hex;
  signedBy: SignedBy;
}

/** `key`: the signature recovers to the payer. `account`: the code of the payer's account accepts it, on this chain. */
export type SignedBy = 'key' | 'account';
