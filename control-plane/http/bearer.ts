// Authorization: Bearer → the subscription that the token belongs to.
import type { Clock } from '#shared/clock.ts';
import type { Bus } from '../bus/bus.ts';
import { Remembered } from '../bus/remembered.ts';
import { hashToken, tokenOf } from '../domain/bearer-token.ts';
import { Refusal } from '../domain/refusal.ts';
import { isActive, type Subscription } from '../domain/subscription.ts';
import type { Database } from '../store/database.ts';
import { findSubscriptionByToken } from '../store/subscriptions.ts';

/**
 * The subscription of an `Authorization` header. Throws `Refusal` `unauthorized` for a token that is missing, unknown,
 * revoked, or whose year is over.
 */
export type Authenticate = (authorization: string | undefined) => Promise<Subscription>;

// Agents poll: the same token comes many times a second.
export function createBearer({ db, bus, clock }: { db: Database; bus: Bus; clock: Clock }): Authenticate {
  const holders = new Remembered<Subscription>(bus, 'subscription_changed');

  async function findHolder(token: string): Promise<Subscription | undefined> {
    const hash = hashToken(token);
    const key = hash.toString('base64');
    const known = holders.find(key);
    if (known !== undefined) return known;
    const begun = holders.begin();
    const subscription = await findSubscriptionByToken(db, hash);
    if (subscription !== undefined) holders.keep(begun, key, subscription.id, subscription);
    return subscription;
  }

  return async (authorization) => {
    const token = tokenOf(authorization);
    const subscription = token === undefined ? undefined : await findHolder(token);
    if (subscription === undefined || !isActive(subscription, new Date(clock.now()))) {
      throw new Refusal(
        'unauthorized',
        'a valid bearer token is required; get one from /subscribe or /auth',
        {
          headers: { 'WWW-Authenticate': 'Bearer' },
        },
      );
    }
    return subscription;
  };
}
