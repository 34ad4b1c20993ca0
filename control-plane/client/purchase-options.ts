// The options of a purchase and of a sign-in, and the result of a purchase.
import type { ApiError } from './api-error.ts';
import type { Answer } from './api-types.ts';
import type { Account } from './payments/account.ts';
import type { Offer, SpendLimit } from './payments/offer.ts';
import type { PaymentProtocol, SignedPayment } from './payments/sign.ts';

export interface PurchaseOptions extends SpendLimit {
  /** The number belongs to this account, so pay only with one that you keep. It only signs: it needs no gas and no chain. */
  account: Account;
  /** `x402-v1` by default; the price is the same for all. */
  protocol?: PaymentProtocol;
  /** A payment of an earlier attempt with an unknown outcome: it is sent instead of signing a new one. */
  resume?: SignedPayment | undefined;
  /** Called and awaited before a payment is first sent: store the payment here. */
  onSigned?: (payment: SignedPayment, offer: Offer) => void | Promise<void>;
  /** Called with the reason for the wait. */
  onWait?: (reason: ApiError) => void;
  /** Time to find the outcome of a payment; five minutes by default. */
  settleTimeoutMs?: number;
}

/** `recovered`: the payment had been applied before, so the token is from a signature. Earlier tokens are revoked then. */
export type Purchase =
  | (Answer<'subscribe'> & { recovered: false })
  | (Answer<'signIn'> & { recovered: true });

/** Those of a purchase, of which only the account is needed. */
export type RecoverOptions = Partial<PurchaseOptions> & { account: Account };
