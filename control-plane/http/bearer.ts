// Authorization: Bearer → the subscription that the token belongs to; and how often an address may try tokens that are none.
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import type { Bus } from '../bus/bus.ts';
import { Remembered } from '../bus/remembered.ts';
import { hashToken, tokenOf } from '../domain/bearer-token.ts';
import { Refusal } from '../domain/refusal.ts';
import { isActive, type Subscription } from '../domain/subscription.ts';
import type { Database } from '../store/database/database.ts';
import { findSubscriptionByToken } from '../store/money/subscriptions.ts';
import { countRefused } from './attempt-limit.ts';
import type { RequestLimit } from './request-limit.ts';

/** Tokens that were good here are looked up even where their address has used its limit up by guessing. */
const PROVEN_MAX = 100_000;

/**
 * The subscription of an `Authorization` header. Throws `Refusal` `unauthorized` for a token that is missing, unknown,
 * revoked, or whose year is over: that counts for the `address`, where one is given. Throws `rate_limited`, without a
 * query, when the address has none left and the token was not good here before.
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
  const proven = new LRUCache<string, true>({ max: PROVEN_MAX });

  async function holderOf(hash: Buffer, key: string): Promise<Subscription> {
    let holder = holders.find(key);
    if (holder === undefined) {
      const begun = holders.begin();
      holder = await findSubscriptionByToken(db, hash);
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
    const hash = token === undefined ? undefined : hashToken(token);
    const key = hash?.toString('base64') ?? '';
    const attempt = async (): Promise<Subscription> => {
      if (hash === undefined) throw unauthorized();
      return holderOf(hash, key);
    };
    if (address === undefined) return attempt();
    if (!proven.has(key)) return countRefused(limit, address, attempt);
    // A good token costs its address nothing. One that was good until now is counted when it is refused.
    return attempt().catch((error: unknown) => countRefused(limit, address, () => Promise.reject(error)));
  };
}

const unauthorized = (): Refusal =>
  new Refusal('unauthorized', 'a valid bearer token is required; get one from /subscribe or /auth', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
