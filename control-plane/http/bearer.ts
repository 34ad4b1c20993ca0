// Finds the subscription of an `Authorization: Bearer` token, and limits how often an address may try invalid tokens.
import { LRUCache } from 'lru-cache';
import type { Base } from '../bus/base.ts';
import { upTo } from '../bus/cache-size.ts';
import { Remembered } from '../bus/remembered.ts';
import { tokenKey, tokenOf } from '../domain/bearer-token.ts';
import { Refusal } from '../domain/refusal.ts';
import { isActive, type Subscription } from '../domain/subscription.ts';
import { findSubscriptionByToken } from '../store/money/subscriptions.ts';
import { countRefused, type RequestLimit } from './request-limit.ts';

/** Tokens that were valid here are checked even if their address has exceeded its limit by guessing. */
const PROVEN_MAX = 100_000;

/**
 * The subscription of an `Authorization` header. Throws `Refusal` `unauthorized` for a token that is missing, unknown, revoked, or whose
 * year is over: that counts for the `address`, if given. Throws `rate_limited`, without a query, when the address has no attempts left and
 * the token was not valid here before.
 */
export type Authenticate = (authorization: string | undefined, address?: string) => Promise<Subscription>;

interface BearerParts extends Pick<Base, 'db' | 'bus' | 'clock'> {
  /** Limit of requests without a valid token. */
  limit: RequestLimit;
}

// Cached, because agents poll: the same token comes many times a second.
export function createBearer({ db, bus, clock, limit }: BearerParts): Authenticate {
  const holders = new Remembered<Subscription>(bus, 'subscription_changed');
  const proven = new LRUCache<string, true>(upTo(PROVEN_MAX));

  async function holderOf(key: string): Promise<Subscription> {
    let holder = holders.find(key);
    if (holder === undefined) {
      const begun = holders.begin();
      holder = await findSubscriptionByToken(db, Buffer.from(key, 'base64'));
      if (holder !== undefined) holders.keep(begun, key, holder.id, holder);
    }
    if (holder === undefined || !isActive(holder, new Date(clock.now()))) {
      proven.delete(key);
      throw unauthorized();
    }
    proven.set(key, true);
    return holder;
  }

  return async (authorization, address) => {
    const token = tokenOf(authorization);
    const key = token === undefined ? undefined : tokenKey(token);
    const known = key === undefined ? undefined : holders.find(key);
    if (known !== undefined && isActive(known, new Date(clock.now()))) return known;
    const attempt = async (): Promise<Subscription> => {
      if (key === undefined) throw unauthorized();
      return holderOf(key);
    };
    if (address === undefined) return attempt();
    if (key === undefined || !proven.has(key)) return countRefused(limit, address, attempt);
    // A valid token costs its address nothing. One that was valid until now is counted when it is refused.
    return attempt().catch((error: unknown) => countRefused(limit, address, () => Promise.reject(error)));
  };
}

const unauthorized = (): Refusal =>
  new Refusal(
    'unauthorized',
    'A valid token is required, in the header "Authorization: Bearer TOKEN". Get one from /subscribe or /auth.',
    {
      headers: { 'WWW-Authenticate': 'Bearer' },
    },
  );
