// A payment and its states, and what the ledger can do with it. The store implements the ledger.
import type { Hex } from 'viem';
import type { Subscription } from '../domain/subscription.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';

/**
 * - `claimed`: the authorization is ours alone and a number is reserved; no transaction with it was signed.
 * - `in_flight`: a transaction with it may be mined, ours (stored here) or somebody else's.
 * - `reverted`: ours moved nothing, or a facilitator refused it. The number is free, but the authorization is public:
 *   anybody may send it until it expires, and so move the money.
 * - `applied`: the money came and the subscription has its year. Final once the chain cannot take the transfer back.
 * - `taken_back`: it was applied, and a reorganisation of the chain took the transfer back for good. The subscription has a year that
 *   nothing paid for, until an operator ends it.
 * - `released`: shown to no third party. The number is free; the authorization may be claimed anew.
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
  'taken_back',
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

/** What the ledger knows of an authorization that was presented before. */
export interface KnownPayment {
  state: PaymentState;
  /** A transaction of our own with it was signed. */
  isSigned: boolean;
}

/** All but the first wrote nothing. */
export type ClaimResult =
  | { kind: 'claimed'; payment: Payment }
  /** This authorization was presented before. */
  | { kind: 'taken'; known: KnownPayment }
  /** A new wallet, and no number to sell. */
  | { kind: 'pool_exhausted' }
  /** Another payment of the wallet may still move money, for so long. */
  | { kind: 'payer_busy'; retryAfterSeconds: number }
  /** The subscription is paid as far ahead as it may be. */
  | { kind: 'paid_ahead'; expiresAt: Date }
  /** Transfers of this payer were mined and refused too often lately; `isOfAll`: those of accounts with code together. */
  | { kind: 'refused_for_a_while'; retryAfterSeconds: number; isOfAll: boolean }
  /** An account on another chain than the one that the wallet's subscription was bought from. */
  | { kind: 'foreign_account'; chainId: number | undefined };

/** How a payment is claimed. */
export interface ClaimTerms {
  now: Date;
  /** A year more is refused where it would end later than so many years from now. */
  yearsAheadMax: number;
  /** The transfer runs code of the payer's, whatever signed it: the token asks that of an address with code (EIP-1271, EIP-7702). */
  runsCode: boolean;
}

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
  /** What is known of an authorization that was presented before. */
  find(authorization: TransferAuthorization): Promise<KnownPayment | undefined>;
  /** Makes the authorization ours and reserves a number for a wallet that has none. */
  claim(authorization: TransferAuthorization, terms: ClaimTerms): Promise<ClaimResult>;
  /**
   * Notes an authorization that the token calls used before we sent it, as `in_flight` and without a number: the money may be ours.
   */
  noteUsed(authorization: TransferAuthorization, now: Date): Promise<ClaimResult>;
  /** → `in_flight`, with our transaction where there is one. False when the claim was released meanwhile. */
  setInFlight(id: string, transaction: SignedTransaction | undefined, now: Date): Promise<boolean>;
  /** Another transaction of ours for a payment in flight, or for an applied one that was taken back. False in other states. */
  replaceTransaction(id: string, transaction: SignedTransaction, now: Date): Promise<boolean>;
  /** `claimed` → `released`. */
  release(id: string, failure: string, now: Date): Promise<void>;
  /** `in_flight` → `released`, of one that was to be shown to somebody for the first time and certainly was not. */
  releaseUnshown(id: string, failure: string, now: Date): Promise<void>;
  /** `in_flight` → `reverted`. */
  setReverted(id: string, failure: string | undefined, now: Date): Promise<void>;
  /** Gives the number back and keeps looking: the money cannot move any more, and may have moved. */
  giveNumberBack(id: string, failure: string, now: Date): Promise<void>;
  /** Any state that may still move money → `void`. */
  setVoid(id: string, failure: string, now: Date): Promise<void>;
  /**
   * → `applied`, and the year is added: `transferHash` brought the money. Undefined when it was applied before, or
   * goes back to the payer. Throws `NumberMissing`, and changes nothing, when a new wallet's number was given back
   * and none is free.
   */
  apply(id: string, transferHash: Hex, now: Date): Promise<Applied | undefined>;
  /** Notes, once, that the money came and could not be applied: an operator may send it back. */
  noteUnapplied(id: string, transferHash: Hex, failure: string, now: Date): Promise<void>;
  /** Notes that a check found nothing new. The more often, the later is the next one. */
  noteCheck(id: string, now: Date): Promise<void>;
  /**
   * Payments of a chain that may still be acted on, not moved since `before` and due for a check, at most `limit`: the first of each
   * payer before the second of any, the oldest first.
   */
  unfinished(chainId: number, due: { before: Date; now: Date; limit: number }): Promise<Payment[]>;
  /** Applied payments that a reorganisation may take back, due for a check, oldest first. */
  notFinal(chainId: number, due: { now: Date; limit: number }): Promise<Payment[]>;
  /** The transfer of an applied payment, which `transferHash` brought, is in a block that stays. */
  setFinal(id: string, transferHash: Hex | undefined, now: Date): Promise<void>;
  /** `applied` → `taken_back`, final. */
  setTakenBack(id: string, failure: string, now: Date): Promise<void>;
}
