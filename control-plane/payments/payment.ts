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

/** Which transfer of which token: what the chain is asked for. */
export type AuthorizedTransfer = Pick<TransferAuthorization, 'asset' | 'from' | 'to' | 'value' | 'nonce'>;

/**
 * - `claimed`: the authorization is ours alone and a number is reserved; no transaction with it was signed.
 * - `in_flight`: a transaction with it may be mined, ours (stored here) or somebody else's.
 * - `reverted`: ours was mined and moved nothing. The number is free, but the authorization is public:
 *   whoever sends it until it expires may still move the money.
 * - `applied`: the money came and the subscription has its year. Final.
 * - `released`: never signed by us. The number is free; the authorization may be claimed anew.
 * - `void`: expired, cancelled or used for something else on chain: nothing moved and nothing ever will. Final.
 * - `refunding`: the money came and bought nothing; a transaction that sends it back is stored, and may be mined.
 * - `refunded`: the money went back. Final.
 */
export type PaymentState = (typeof PAYMENT_STATES)[number];

export const PAYMENT_STATES = [
  'claimed',
  'in_flight',
  'reverted',
  'applied',
  'released',
  'void',
  'refunding',
  'refunded',
] as const;

export interface SignedTransaction {
  raw: Hex;
  hash: Hex;
  /** The relayer's. */
  nonce: number;
}

export interface Payment {
  id: string;
  authorization: TransferAuthorization;
  state: PaymentState;
  transaction: SignedTransaction | undefined;
  /** The transaction that brought the money, where it was seen before. */
  transferHash: Hex | undefined;
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

/** The money of a new wallet came, and no number is free. Tried again until one is. */
export class NumberMissing extends Error {
  override name = 'NumberMissing';
}

/** The record of payments. Every method is one transaction; each may be the last that this process does. */
export interface PaymentLedger {
  /** The state of an authorization that was presented before. */
  find(authorization: TransferAuthorization): Promise<PaymentState | undefined>;
  /** Makes the authorization ours and reserves a number for a wallet that has none. */
  claim(authorization: TransferAuthorization, now: Date): Promise<ClaimResult>;
  /** → `in_flight`, with our transaction where there is one. False when the claim was released meanwhile. */
  setInFlight(id: string, transaction: SignedTransaction | undefined, now: Date): Promise<boolean>;
  /** `claimed` → `released`. */
  release(id: string, failure: string, now: Date): Promise<void>;
  /** `in_flight` → `reverted`. */
  setReverted(id: string, now: Date): Promise<void>;
  /** `in_flight` or `reverted` → `void`. */
  setVoid(id: string, failure: string, now: Date): Promise<void>;
  /**
   * → `applied`, and the year is added: `transferHash` brought the money. Undefined when it was applied before, or
   * goes back to the payer. Throws `NumberMissing`, and changes nothing, when a new wallet's number was given back
   * and none is free.
   */
  apply(id: string, transferHash: Hex, now: Date): Promise<Applied | undefined>;
  /** Notes, once, that the money came and could not be applied: an operator may send it back. */
  noteUnapplied(id: string, transferHash: Hex, failure: string, now: Date): Promise<void>;
  /** Notes that a payment was looked at, so that the others get their turn. */
  touch(id: string, now: Date): Promise<void>;
  /**
   * Payments of a chain in a state that is not final and may be acted on, not moved since `before`, oldest first; also
   * released ones whose authorization has not expired for long.
   */
  unfinished(chainId: number, before: Date): Promise<Payment[]>;
}
