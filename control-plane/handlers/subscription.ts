// POST /subscribe, GET /number and GET /availability.
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';
import type { Base } from '../bus/base.ts';
import { FreshRead } from '../bus/fresh-read.ts';
import { hashToken, mintToken, tokenOfPayment } from '../domain/bearer-token.ts';
import { Refusal } from '../domain/refusal.ts';
import { PLAN, type Subscription } from '../domain/subscription.ts';
import { type Challenge, challengeFor } from '../payments/challenge.ts';
import { type CheckoutParts, checkout, type PayingClient } from '../payments/checkout.ts';
import type { PaymentHeaders } from '../payments/credential.ts';
import { alreadyUsed, PaymentRejected, unavailable } from '../payments/rejection.ts';
import { countAvailable } from '../store/fleet/number-pool.ts';
import { insertToken } from '../store/money/credentials.ts';
import { hasToken } from '../store/money/repeated-payments.ts';

export interface SubscribeParts extends CheckoutParts, Pick<Base, 'db' | 'bus' | 'clock'> {
  /** Asks the node to confirm a new number; resolves when it has, or after a timeout. */
  provision(number: string): Promise<void>;
}

type SubscribeResult =
  | { kind: 'challenge'; challenge: Challenge }
  | {
      kind: 'subscribed';
      headers: Record<string, string>;
      body: AnswerOf<typeof OPERATION.subscribe>;
    };

export async function subscribe(
  parts: SubscribeParts,
  headers: PaymentHeaders,
  client: PayingClient,
): Promise<SubscribeResult> {
  try {
    const { subscription, renewed, receipt, named } = await checkout(parts, headers, client);
    parts.bus.publish({ kind: 'subscription_changed', subscriptionId: subscription.id });
    const token = named === undefined ? mintToken() : tokenOfPayment(parts.sale.challengeSecret, named);
    const row = {
      hash: hashToken(token),
      subscriptionId: subscription.id,
      now: new Date(parts.clock.now()),
    };
    const { repeated } = named ?? {};
    const isValid = await (repeated === undefined
      ? insertToken(parts.db, row).then(() => true)
      : hasToken(parts.db, row, { canBeNew: repeated.isOurs, claimedAt: repeated.claimedAt })
    ).catch((cause: unknown) => {
      throw new Refusal('settlement_pending', 'The payment is complete. Sign in with /auth to get a token.', {
        cause,
        headers: { 'Retry-After': '1' },
      });
    });
    if (!isValid) throw alreadyUsed();
    if (!renewed && repeated === undefined) await parts.provision(subscription.number);
    return {
      kind: 'subscribed',
      headers: receipt,
      body: {
        token,
        number: subscription.number,
        expires_at: subscription.expiresAt.toISOString(),
        renewed,
      },
    };
  } catch (error) {
    if (!(error instanceof PaymentRejected)) throw error;
    const { clock, networks, sale } = parts;
    // A challenge without a payment option would be useless.
    if (networks.openOffers.length === 0) throw unavailable();
    const open = { ...sale, offers: networks.openOffers };
    const signed = await parts.signer.offers(open);
    const challenge = challengeFor(open, error, { now: new Date(clock.now()), presented: headers, signed });
    return { kind: 'challenge', challenge };
  }
}

export function describeNumber(subscription: Subscription): AnswerOf<typeof OPERATION.number> {
  return {
    number: subscription.number,
    sub_account_id: subscription.id,
    plan: PLAN,
    expires_at: subscription.expiresAt.toISOString(),
  };
}

export interface AvailabilityParts {
  availability(): Promise<AnswerOf<typeof OPERATION.availability>>;
}

/** Anyone may ask, and the count is a large query: one at a time answers all who ask. */
export function createAvailability({
  db,
  clock,
}: Pick<Base, 'db' | 'clock'>): AvailabilityParts['availability'] {
  const count = new FreshRead(() => countAvailable(db, new Date(clock.now())));
  return async () => ({ available: await count.ask() });
}
