// How often a client may ask: policies, the remaining quota in headers, and the refusal of requests beyond it.
import type { Clock } from '#shared/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Limit, observe } from '../metrics/observation.ts';
import { clientNetworkOf } from './client-network.ts';
import { SlidingWindow, type Use } from './sliding-window.ts';

/** A /48 has so many times what one of its /64s has. */
const SITE_FACTOR = 8;

/** A request that was counted. */
export interface Counted {
  /** The remaining quota (draft-ietf-httpapi-ratelimit-headers). */
  headers: Record<string, string>;
  /** Takes it back. */
  giveBack(): void;
}

export interface RequestLimit {
  /** Counts a request. Throws `Refusal` `rate_limited` when none is left; that request is not counted. */
  count(asker: string): Promise<Counted>;
}

/** No more than `max` requests of one who asks in any `withinMs`. `name` stands in the headers and in the metrics. */
export interface LimitOptions {
  name: Limit;
  max: number;
  withinMs: number;
}

/** Counts by the given key: a subscription. */
export function createRequestLimit(clock: Clock, options: LimitOptions): RequestLimit {
  const policy = policyOf(clock, options.name, options);
  return { count: (asker) => countAll(options.name, [{ policy, key: asker }]) };
}

/** Of an address: its network counts, and for IPv6 the site around it as well, which has a larger policy. */
export function createAddressLimit(clock: Clock, options: LimitOptions): RequestLimit {
  const { name, max } = options;
  const ofNetwork = policyOf(clock, name, options);
  const ofSite = policyOf(clock, `${name}-48`, { ...options, max: max * SITE_FACTOR });
  return {
    count(address) {
      const { network, site } = clientNetworkOf(address);
      const networkUse = { policy: ofNetwork, key: network };
      return countAll(name, site === undefined ? [networkUse] : [networkUse, { policy: ofSite, key: site }]);
    },
  };
}

interface Policy {
  name: string;
  /** As in `RateLimit-Policy`. */
  header: string;
  window: SlidingWindow;
}

const policyOf = (clock: Clock, name: string, { max, withinMs }: Omit<LimitOptions, 'name'>): Policy => ({
  name,
  header: `"${name}";q=${max};w=${withinMs / 1000}`,
  window: new SlidingWindow({ clock, max, withinMs }),
});

/** All of them, or none. */
async function countAll(
  limit: Limit,
  keys: ReadonlyArray<{ policy: Policy; key: string }>,
): Promise<Counted> {
  const uses: Use[] = [];
  const states: string[] = [];
  for (const { policy, key } of keys) {
    const use = await policy.window.use(key);
    const seconds = Math.max(1, Math.ceil(use.moreInMs / 1000));
    states.push(`"${policy.name}";r=${use.left};t=${seconds}`);
    if (!use.isAllowed) {
      for (const counted of uses) counted.giveBack();
      observe({ kind: 'rate_limited', limit });
      throw new Refusal('rate_limited', `too many requests; wait ${seconds} s`, {
        headers: { 'Retry-After': String(seconds), ...headersOf(keys, states) },
      });
    }
    uses.push(use);
  }
  return {
    headers: headersOf(keys, states),
    giveBack() {
      for (const use of uses) use.giveBack();
    },
  };
}

const headersOf = (
  keys: ReadonlyArray<{ policy: Policy }>,
  states: readonly string[],
): Record<string, string> => ({
  'RateLimit-Policy': keys.map(({ policy }) => policy.header).join(', '),
  RateLimit: states.join(', '),
});
