// Authorization: Bearer → the subscription that the token belongs to; and how often an address may try tokens that are none.
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import type { Bus } from '../bus/bus.ts';
import { Remembered } from '../bus/remembered.ts';
import { hashToken, tokenOf } from '../domain/bearer-token.ts';
import { Refusal } from '../domain/refusal.ts';
import { isActive, type Subscription } from '../domain/subscription.ts';
import type { Database } from '../store/database.ts';
import { findSubscriptionByToken } from '../store/subscriptions.ts';
import type { RequestLimit } from './request-limit.ts';

/** Tokens that were good before are asked for also where the limit of their address is used up. */
const PROVEN = { max: 100_000, ttl: 60 * 60 * 1000 };

/**
 * The subscription of an `Authorization` header. Throws `Refusal` `unauthorized` for a token that is missing, unknown,
 * revoked, or whose year is over: that counts for the `address`, where one is given. Throws `rate_limited`, without a
 * word to the database, when the address has no more and the token is none that was good before.
 */
export type Authenticate = (authorization: string | undefined, address?: string) => Promise<Subscription>;

export interface BearerParts {
  db: Database;
  bus: Bus;
  clock: Clock;
  /** How often an address may ask without a good token. */
  limit: RequestLimit;
}

// Agents poll: the same token comes many times a second.
export function createBearer({ db, bus, clock, limit }: BearerParts): Authenticate {
  const holders = new Remembered<Subscription>(bus, 'subscription_changed');
  const proven = new LRUCache<string, true>(PROVEN);

  async function findHolder(token: string, address: string | undefined): Promise<Subscription | undefined> {
    const hash = hashToken(token);
    const key = hash.toString('base64');
    const known = holders.find(key);
    if (known !== undefined) return known;
    const begun = holders.begin();
    const subscription = await allowed(proven.has(key) ? undefined : address, () =>
      findSubscriptionByToken(db, hash),
    );
    if (subscription === undefined) {
      proven.delete(key);
      return undefined;
    }
    proven.set(key, true);
    holders.keep(begun, key, subscription.id, subscription);
    return subscription;
  }

  /** Counts while it is asked, so that many at once are no more than were allowed. What was a guess counts in the end. */
  async function allowed<T>(address: string | undefined, ask: () => Promise<T>): Promise<T> {
    if (address === undefined) return ask();
    limit(address);
    try {
      return await ask();
    } finally {
      limit.giveBack(address);
    }
  }

  return async (authorization, address) => {
    const token = tokenOf(authorization);
    const subscription = token === undefined ? undefined : await findHolder(token, address);
    if (subscription === undefined || !isActive(subscription, new Date(clock.now()))) {
      if (address !== undefined) limit(address);
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
