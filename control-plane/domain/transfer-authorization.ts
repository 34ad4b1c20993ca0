// A transfer that a payer has signed (EIP-3009).
import type { Address, Hex } from 'viem';

/** EIP-3009 `TransferWithAuthorization` as it was signed. */
export interface TransferAuthorization {
  chainId: number;
  /** The token contract. */
  asset: Address;
  from: Address;
  to: Address;
  /** Smallest units. */
  value: bigint;
  /** Seconds since the Unix epoch; valid strictly between the two. */
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
  /** 65 bytes from a key; any length from a contract account. */
  signature: Hex;
  signedBy: SignedBy;
}

/** `key`: the signature recovers to the payer. `account`: the code of the payer's account accepts it, on this chain. */
export type SignedBy = 'key' | 'account';

/** Identifies a transfer of a token on its chain. */
export type AuthorizedTransfer = Pick<TransferAuthorization, 'asset' | 'from' | 'to' | 'value' | 'nonce'>;
