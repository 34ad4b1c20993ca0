// POST /auth: a lost token is recovered by a wallet signature.
import type { AnswerOf, BodyOf, OPERATION } from '#shared/api/operations.ts';
import type { Base } from '../bus/base.ts';
import { hashToken, mintToken } from '../domain/bearer-token.ts';
import { Refusal } from '../domain/refusal.ts';
import { isActive } from '../domain/subscription.ts';
import { replaceTokens } from '../store/money/credentials.ts';
import { openPaymentOf } from '../store/money/payers.ts';
import { provenHolder, type WalletProofParts } from './wallet-proof.ts';

export interface AuthParts extends WalletProofParts, Pick<Base, 'bus'> {}

/**
 * Success revokes every older token of the wallet. Throws `Refusal`: those of `provenHolder`; `no_active_subscription`;
 * `settlement_pending` while a payment of the wallet is open.
 */
export async function signIn(
  parts: AuthParts,
  request: BodyOf<typeof OPERATION.signIn>,
  clientNetwork: string,
): Promise<AnswerOf<typeof OPERATION.signIn>> {
  const { db, bus, clock } = parts;
  const now = new Date(clock.now());
  const { wallet, subscription } = await provenHolder(parts, request, clientNetwork);
  if (subscription === undefined || !isActive(subscription, now)) {
    // A 402 would make the payer pay twice.
    const open = await openPaymentOf(db, wallet, now);
    if (open !== undefined) {
      throw new Refusal(
        'settlement_pending',
        'A payment of this wallet is in progress. Do not pay again. Sign in after Retry-After seconds.',
        { headers: { 'Retry-After': String(open.retryAfterSeconds) } },
      );
    }
    throw new Refusal('no_active_subscription', 'This wallet has no active subscription.', {
      details: {
        wallet,
        warning:
          'The number belongs to the wallet that paid. Sign with that wallet, or pay with this one. ' +
          'A lost wallet cannot be recovered.',
      },
    });
  }
  const token = mintToken();
  await replaceTokens(db, { hash: hashToken(token), subscriptionId: subscription.id, now });
  bus.publish({ kind: 'subscription_changed', subscriptionId: subscription.id });
  return { token, number: subscription.number, expires_at: subscription.expiresAt.toISOString() };
}
