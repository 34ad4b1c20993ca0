// POST /auth/nonce and POST /auth: a lost token is recovered by a wallet signature.
import { getAddress } from 'viem';
import type { AnswerOf, BodyOf, OPERATION } from '#shared/api/operations.ts';
import type { Clock } from '#shared/clock.ts';
import type { Bus } from '../bus/bus.ts';
import { hashToken, mintToken } from '../domain/bearer-token.ts';
import { Refusal } from '../domain/refusal.ts';
import { mintNonce, NONCE_LIFETIME_SECONDS, signInDigests, signInText } from '../domain/sign-in.ts';
import { isActive } from '../domain/subscription.ts';
import { canonicalSignature } from '../signatures/signature-form.ts';
import { signers } from '../signatures/signer-pool.ts';
import { consumeNonce, insertNonce, replaceTokens } from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import { findSubscriptionByWallet } from '../store/subscriptions.ts';

export interface AuthParts {
  db: Database;
  bus: Bus;
  clock: Clock;
  serviceDomain: string;
}

export async function issueNonce({
  db,
  clock,
  serviceDomain,
}: AuthParts): Promise<AnswerOf<typeof OPERATION.nonce>> {
  const nonce = mintNonce();
  await insertNonce(db, nonce, new Date(clock.now() + NONCE_LIFETIME_SECONDS * 1000));
  return { nonce, expires_in: NONCE_LIFETIME_SECONDS, message: signInText(serviceDomain, nonce) };
}

/**
 * Any attempt that is judged uses the nonce up. Success revokes every older token of the wallet. Throws `Refusal`:
 * `signature_mismatch`; `no_active_subscription`; `overloaded`, before the nonce is touched unless the load came later.
 */
export async function signIn(
  { db, bus, clock, serviceDomain }: AuthParts,
  request: BodyOf<typeof OPERATION.signIn>,
): Promise<AnswerOf<typeof OPERATION.signIn>> {
  const now = new Date(clock.now());
  const wallet = getAddress(request.wallet.toLowerCase());
  signers.checkRoom();
  const isFresh = await consumeNonce(db, request.nonce, now);
  if (!isFresh) throw mismatch('the nonce is unknown, used or expired');
  const signature = canonicalSignature(request.signature);
  if (signature === undefined)
    throw mismatch('the signature has a v that is not 0, 1, 27 or 28, or a high s');
  const digests = signInDigests(serviceDomain, request.nonce);
  if (!(await signers.isSignedBy({ signer: wallet, digests, signature }))) {
    throw mismatch('the signature does not belong to this wallet and nonce');
  }
  const subscription = await findSubscriptionByWallet(db, wallet);
  if (subscription === undefined || !isActive(subscription, now)) {
    throw new Refusal('no_active_subscription', 'this wallet has no active subscription', {
      details: {
        wallet,
        warning:
          'The number belongs to the wallet that paid. Sign with that wallet, or pay with this one; ' +
          'a wallet that is lost cannot be recovered.',
      },
    });
  }
  const token = mintToken();
  await replaceTokens(db, { hash: hashToken(token), subscriptionId: subscription.id, now });
  bus.publish({ kind: 'subscription_changed', subscriptionId: subscription.id });
  return { token, number: subscription.number, expires_at: subscription.expiresAt.toISOString() };
}

const mismatch = (message: string): Refusal => new Refusal('signature_mismatch', message);
