// The paid year: subscriptions, and how a payment extends them. Pure.

export interface Subscription {
  /** `sub_account_id`: opaque, stable over renewals. */
  id: string;
  /** Wallet address in lower case. */
  wallet: string;
  /** E.164. */
  number: string;
  /** The chain of the wallet's contract account; undefined for a wallet with a key. */
  accountChainId: number | undefined;
  expiresAt: Date;
}

/** `down`: active, and its number has no service. */
export const SUBSCRIPTION_STATES = ['active', 'down', 'expired'] as const;
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number];

export const PLAN = 'yearly';

export function isActive(subscription: Pick<Subscription, 'expiresAt'>, now: Date): boolean {
  return subscription.expiresAt.getTime() > now.getTime();
}

/**
 * The end of a subscription after one more payment: a calendar year after its present end, or after `now` if it is over or new. February 29
 * becomes February 28 in a year without one.
 */
export function extendedExpiry(expiresAt: Date | undefined, now: Date): Date {
  const from = expiresAt !== undefined && expiresAt > now ? expiresAt : now;
  return yearsLater(from, 1);
}

/** The end of a subscription with `years` fewer years. */
export const shortenedExpiry = (expiresAt: Date, years: number): Date => yearsLater(expiresAt, -years);

function yearsLater(from: Date, years: number): Date {
  const moved = new Date(from);
  moved.setUTCFullYear(from.getUTCFullYear() + years);
  if (moved.getUTCMonth() !== from.getUTCMonth()) moved.setUTCDate(0);
  return moved;
}

/** Codes for the customer may come to the number that a subscription had before for this long. */
export const REASSIGNED_QUARANTINE_DAYS = 90;
