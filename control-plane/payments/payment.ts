// A payment and its states, and what the ledger can do with it. The store implements the ledger.
import type { Address, Hex } from 'viem';
import type { Subscription } from '../domain/subscription.ts';

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
  signature: Hex;
}

/**
 * - `claimed`: the authorization is ours alone and a number is reserved; nothing was signed, no money can move.
 * - `signed`: the raw transaction is stored; it may have been broadcast.
 * - `applied`: the money arrived and the subscription has its year.
 * - `released`: nothing moved and nothing will; the number is free again. May be claimed anew.
 */
export type PaymentState = 'claimed' | 'signed' | 'applied' | 'released';

export interface Payment {
  id: string;
  authorization: TransferAuthorization;
  state: PaymentState;
  transaction: { raw: Hex; hash: Hex; nonce: number } | undefined;
  updatedAt: Date;
}

export type ClaimResult =
  | { kind: 'claimed'; payment: Payment }
  /** Somebody presented this authorization before. */
  | { kind: 'taken'; state: PaymentState }
  /** A new wallet, and no number to sell. Nothing was written. */
  | { kind: 'pool_exhausted' };

export interface Applied {
  subscription: Subscription;
  renewed: boolean;
}

/** The record of payments. Every method is one transaction; each may be the last that this process does. */
export interface PaymentLedger {
  /** Makes the authorization ours and reserves a number for a wallet that has none. */
  claim(authorization: TransferAuthorization, now: Date): Promise<ClaimResult>;
  /** `claimed` or `signed` → `signed`. False when the payment is no longer in one of them. */
  storeTransaction(
    id: string,
    transaction: { raw: Hex; hash: Hex; nonce: number },
    now: Date,
  ): Promise<boolean>;
  /** `claimed` or `signed` → `released`. */
  release(id: string, failure: string, now: Date): Promise<void>;
  /** → `applied`, and the year is added. Undefined when it was applied before. */
  apply(id: string, now: Date): Promise<Applied | undefined>;
  /** Payments that are `claimed` or `signed` and have not moved since `before`. */
  unfinished(before: Date): Promise<Payment[]>;
}
