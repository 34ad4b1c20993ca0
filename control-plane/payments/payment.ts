// A payment and its states, and the operations of the ledger. The store implements the ledger.
import type { Address, Hex } from 'viem';
import * as z from 'zod';
import type { Subscription } from '../domain/subscription.ts';
import { hexSchema, type TransferAuthorization } from '../domain/transfer-authorization.ts';

/**
 * - `claimed`: no other request can use the authorization, and a number is reserved. No transaction with it was signed.
 * - `in_flight`: a transaction with it may be mined: ours (stored here) or one of a third party.
 * - `reverted`: ours moved nothing, or a facilitator rejected it. The number is available again, but the authorization is public: anyone
 * may submit it until it expires, and so move the money.
 * - `applied`: the money arrived and the subscription has its year. Final once the chain cannot revert the transfer.
 * - `taken_back`: it was applied, and a reorganization of the chain reverted the transfer for good. The subscription has an unpaid year
 * until an operator ends it.
 * - `released`: shown to no third party. The number is available again; the authorization may be claimed again.
 * - `void`: expired, canceled or used for something else on chain: nothing moved and nothing ever will. Final.
 * - `refunding`: an operator decided to refund it: it bought nothing, or its subscription was ended. Once a transaction that does so is
 * stored, it may be mined.
 * - `refunded`: the money, or the share that was decided on, was refunded. Final.
 * - `closed`: an operator gave up its refund, which the token rejects. The money stays in the account that was paid. Final.
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
  'closed',
] as const;

export const signedTransactionSchema = z.object({
  raw: hexSchema,
  hash: hexSchema,
  /** The account that signed it and pays its gas. */
  sender: hexSchema,
  /** Nonce of that account. */
  nonce: z.number(),
});
export type SignedTransaction = z.output<typeof signedTransactionSchema>;

/** A transaction of a relayer for a payment. */
export interface RelayedTransaction extends SignedTransaction {
  /** It transfers nothing, to its own sender: it only uses the nonce, and the payment cannot pay by it. */
  isEmpty: boolean;
}

export interface Payment {
  id: string;
  authorization: TransferAuthorization;
  state: PaymentState;
  transaction: RelayedTransaction | undefined;
  /** The transaction that transferred the money, if it was seen before. */
  transferHash: Hex | undefined;
  updatedAt: Date;
}

/** One claim of an authorization. `updatedAt`: when it was claimed. */
export type Claim = Pick<Payment, 'authorization' | 'updatedAt'>;

/** A payment with a transaction of ours, mined or not. */
export interface SentPayment extends Payment {
  transaction: RelayedTransaction;
  /** No reorganization can revert its transfer. */
  isFinal: boolean;
}

/** The ledger's record of an authorization that was presented before. */
export interface KnownPayment {
  state: PaymentState;
  /** A transaction of our own with it was signed. */
  isSigned: boolean;
}

/** An applied payment that its payer presents again by its name. */
export interface RepeatedPayment extends Applied {
  id: string;
  /** The transaction that transferred the money. */
  transferHash: Hex;
  /** A transaction of this service transferred the money, not one of a third party that could read the authorization. */
  isOurs: boolean;
  claimedAt: Date;
}

/** Only the first one changed the ledger. */
export type ClaimResult =
  | { kind: 'claimed'; payment: Payment }
  /** This authorization was presented before. */
  | { kind: 'taken'; known: KnownPayment }
  /** Another payment of the wallet has this identifier, and has moved money or still may. */
  | { kind: 'identifier_reused' }
  /** A new wallet, and no available number. */
  | { kind: 'pool_exhausted' }
  /** Another payment of the wallet may still move money; seconds until it may be over. */
  | { kind: 'payer_busy'; retryAfterSeconds: number }
  /** The subscription is paid as far ahead as allowed. */
  | { kind: 'paid_ahead'; expiresAt: Date }
  /** Too many transfers of this payer were mined and rejected recently; `isOfAll`: of all payers with contract accounts together. */
  | { kind: 'refused_for_a_while'; retryAfterSeconds: number; isOfAll: boolean }
  /** An account on another chain than the one that bought the wallet's subscription. */
  | { kind: 'foreign_account'; chainId: number | undefined };

/** How a payment is claimed. */
export interface ClaimTerms {
  now: Date;
  /** Another year is refused if it would end more than this many years from now. */
  yearsAheadMax: number;
  /** The transfer runs code of the payer's account, whatever signed it: the token calls an address with code (EIP-1271, EIP-7702). */
  runsCode: boolean;
  /** The payer's secret name for the payment. */
  identifier?: string | undefined;
}

export interface Applied {
  subscription: Subscription;
  renewed: boolean;
}

/** The money of a new wallet arrived, but no number is available. The ledger retries until one is. */
export class NumberMissing extends Error {
  override name = 'NumberMissing';
}

/** The record of payments. Every method is one transaction, and the process may die after any of them. */
export interface PaymentLedger {
  /** The record of an authorization that was presented before. */
  find(authorization: TransferAuthorization): Promise<KnownPayment | undefined>;
  /** The same for one that could not be verified, on whatever chain and for whatever token it was presented. */
  findNamed(named: Pick<TransferAuthorization, 'from' | 'nonce'>): Promise<KnownPayment | undefined>;
  /**
   * An applied payment with this identifier. A wrong identifier removes the right one, so that it cannot be guessed: anyone can read the
   * authorization on the chain.
   */
  findRepeated(
    authorization: TransferAuthorization,
    identifier: string,
  ): Promise<RepeatedPayment | undefined>;
  /** Claims the authorization, and reserves a number for a wallet without one. */
  claim(authorization: TransferAuthorization, terms: ClaimTerms): Promise<ClaimResult>;
  /**
   * Records an authorization that the token reports as used before we sent it: `in_flight`, without a number. It may be a payment to us.
   */
  noteUsed(authorization: TransferAuthorization, now: Date): Promise<ClaimResult>;
  /** → `in_flight`, with our transaction if there is one. False when the claim was released meanwhile. */
  setInFlight(id: string, transaction: RelayedTransaction | undefined, now: Date): Promise<boolean>;
  /** Replaces our transaction of a payment in flight, or of an applied one that was reverted. False in other states. */
  replaceTransaction(id: string, transaction: RelayedTransaction, now: Date): Promise<boolean>;
  /**
   * Our transactions of an account from a nonce on, in all states, at most `limit`. The lowest nonce comes first; of payments with the same
   * nonce, the newest.
   */
  sent(chainId: number, from: { sender: Address; nonceMin: number; limit: number }): Promise<SentPayment[]>;
  /**
   * Replaces our transaction `replaced` of a payment by an empty one, in any state. False if another one is stored by now.
   */
  replaceWithEmpty(id: string, replaced: Hex, empty: RelayedTransaction, now: Date): Promise<boolean>;
  /** `claimed` → `released`, also of a claim whose answer was lost. False if it was claimed at another time, or has moved on. */
  release(claim: Claim, failure: string, now: Date): Promise<boolean>;
  /** `in_flight` → `released`, for a payment that certainly was not shown to a third party. */
  releaseUnshown(id: string, failure: string, now: Date): Promise<void>;
  /** `in_flight` → `reverted`. */
  setReverted(id: string, failure: string | undefined, now: Date): Promise<void>;
  /** Releases the number and keeps checking: the money cannot move any more, but may have moved. */
  giveNumberBack(id: string, failure: string, now: Date): Promise<void>;
  /** Any state that may still move money → `void`. */
  setVoid(id: string, failure: string, now: Date): Promise<void>;
  /**
   * → `applied`, and adds the year. `transferHash`: the transaction that transferred the money. Undefined when it was applied before, or is
   * being refunded. Throws `NumberMissing`, and changes nothing, if a new wallet's number was released and none is available.
   */
  apply(id: string, transferHash: Hex, now: Date): Promise<Applied | undefined>;
  /** Records, once, that the money arrived and could not be applied: an operator may refund it. */
  noteUnapplied(id: string, transferHash: Hex, failure: string, now: Date): Promise<void>;
  /** Records that a check found nothing new. Each further check waits longer. */
  noteCheck(id: string, now: Date): Promise<void>;
  /**
   * Open payments of a chain, unchanged since `before` and due for a check, at most `limit`. The first of each payer comes before the
   * second of any, the oldest first.
   */
  unfinished(chainId: number, due: { before: Date; now: Date; limit: number }): Promise<Payment[]>;
  /** Applied payments that a reorganization may revert, due for a check, oldest first. */
  notFinal(chainId: number, due: { now: Date; limit: number }): Promise<Payment[]>;
  /** Records that the transfer of an applied payment is final. `transferHash`: its transaction. */
  setFinal(id: string, transferHash: Hex | undefined, now: Date): Promise<void>;
  /** `applied` → `taken_back`, final. */
  setTakenBack(id: string, failure: string, now: Date): Promise<void>;
}
