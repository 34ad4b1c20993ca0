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
  /** 65 bytes of a key; of an account with code whatever that takes. */
  signature: Hex;
  signedBy: SignedBy;
}

/** `key`: the signature recovers to the payer. `account`: the code of the payer's account accepts it, on this chain. */
export type SignedBy = 'key' | 'account';

/** Which transfer of which token: what the chain is asked for. */
export type AuthorizedTransfer = Pick<TransferAuthorization, 'asset' | 'from' | 'to' | 'value' | 'nonce'>;
