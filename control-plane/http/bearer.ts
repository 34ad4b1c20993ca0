// Authorization: Bearer → the subscription that the token belongs to.
import type { Context } from 'koa';
import { hashToken, tokenOf } from '../domain/bearer-token.ts';
import { Refusal } from '../domain/refusal.ts';
import { isActive, type Subscription } from '../domain/subscription.ts';
import type { Database } from '../store/database.ts';
import { findSubscriptionByToken } from '../store/subscriptions.ts';

/** Throws `Refusal` `unauthorized` for a token that is missing, unknown, revoked, or whose year is over. */
export async function authenticate(db: Database, ctx: Context, now: Date): Promise<Subscription> {
  const token = tokenOf(ctx.get('Authorization'));
  const subscription = token && (await findSubscriptionByToken(db, hashToken(token)));
  if (!subscription || !isActive(subscription, now)) {
    throw new Refusal('unauthorized', 'a valid bearer token is required; get one from /subscribe or /auth', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  return subscription;
}
