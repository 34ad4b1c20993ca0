// Rate limits: policies, the remaining quota in headers, and the refusal of requests beyond it; a limit of refused attempts.
import type { RefusalCode } from '#shared/api/refusals.ts';
import type { Clock } from '#shared/clock.ts';
import { KeyedQueue } from '#shared/keyed-queue.ts';
import { Refusal } from '../domain/refusal.ts';
import { emitMetric, type Limit } from '../metrics/metric-events.ts';
import { clientNetworkOf } from './client-network.ts';
import { SlidingWindow, type WindowUse } from './sliding-window.ts';

/** The limit of a /48, as a multiple of the limit of a /64. */
const SITE_FACTOR = 8;

/** A counted request. */
interface Counted {
  /** The remaining quota (draft-ietf-httpapi-ratelimit-headers). */
  headers: Record<string, string>;
  /** Undoes the count. */
  giveBack(): void;
}

export interface RequestLimit {
  /** Counts a request. Throws `Refusal` `rate_limited` when none is left; that request is not counted. */
  count(asker: string): Promise<Counted>;
}

/** At most `max` requests per key in any `withinMs`. `name` is used in the headers and in the metrics. */
interface LimitOptions {
  name: Limit;
  max: number;
  withinMs: number;
}

/** Counts by the given key, such as a subscription. */
export function createRequestLimit(clock: Clock, options: LimitOptions): RequestLimit {
  const policy = policyOf(clock, options.name, options);
  return { count: (asker) => countAll(options.name, [{ policy, key: asker }]) };
}

/** Counts by address: its network, and for IPv6 also the site around it, which has a larger limit. */
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

/**
 * Counts what one request may do many times, such as the deliveries that it sends again. `what`: what is limited, at the beginning of a
 * sentence.
 */
export function createAmountLimit(clock: Clock, options: LimitOptions & { what: string }) {
  const { max, name, what, withinMs } = options;
  const window = new SlidingWindow({ clock, max, withinMs });
  const queue = new KeyedQueue();
  const spend = async (key: string, wanted: number, work: (granted: number) => Promise<number>) => {
    const use = await window.use(key, Math.min(wanted, max));
    if (!use.isAllowed) {
      emitMetric({ kind: 'rate_limited', limit: name });
      const seconds = Math.max(1, Math.ceil(use.moreInMs / 1000));
      throw new Refusal('rate_limited', `${what} are used up. Wait ${seconds} s`, {
        headers: { 'Retry-After': String(seconds) },
      });
    }
    let done = 0;
    try {
      done = await work(use.granted);
      return done;
    } finally {
      use.giveBack(Math.max(0, use.granted - done));
    }
  };
  return {
    /**
     * Runs `work` with the number that it may do: as many as `wanted`, or what is left. It resolves with the number that it did; the
     * others are given back. One at a time per key, so that none is refused for what another one gives back. Throws `Refusal`
     * `rate_limited` when none is left.
     */
    spend: (key: string, wanted: number, work: (granted: number) => Promise<number>): Promise<number> =>
      queue.run(key, () => spend(key, wanted, work)),
  };
}

interface Policy {
  name: string;
  /** The value of `RateLimit-Policy`. */
  header: string;
  window: SlidingWindow;
}

const policyOf = (clock: Clock, name: string, { max, withinMs }: Omit<LimitOptions, 'name'>): Policy => ({
  name,
  header: `"${name}";q=${max};w=${withinMs / 1000}`,
  window: new SlidingWindow({ clock, max, withinMs }),
});

/** Counts for all policies, or for none. */
async function countAll(
  limit: Limit,
  keys: ReadonlyArray<{ policy: Policy; key: string }>,
): Promise<Counted> {
  const uses: WindowUse[] = [];
  const states: string[] = [];
  for (const { policy, key } of keys) {
    const use = await policy.window.use(key);
    const seconds = Math.max(1, Math.ceil(use.moreInMs / 1000));
    states.push(`"${policy.name}";r=${use.left};t=${seconds}`);
    if (!use.isAllowed) {
      for (const counted of uses) counted.giveBack();
      emitMetric({ kind: 'rate_limited', limit });
      throw new Refusal('rate_limited', `Too many requests. Wait ${seconds} s`, {
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

/**
 * Runs `attempt`. An attempt counts while it is under way and when it is refused, so parallel attempts give no more guesses than serial
 * ones. A failure for another reason, such as an unavailable database, does not count. Throws `Refusal` `rate_limited` after too many. A
 * refusal gets headers with the remaining attempts.
 */
export async function countRefused<T>(
  limit: RequestLimit,
  address: string,
  attempt: () => Promise<T>,
): Promise<T> {
  const counted = await limit.count(address);
  try {
    const result = await attempt();
    counted.giveBack();
    return result;
  } catch (error) {
    if (!isRefused(error)) {
      counted.giveBack();
      throw error;
    }
    const { code, details, headers, message } = error;
    throw new Refusal(code, message, { details, headers: { ...counted.headers, ...headers }, cause: error });
  }
}

/** The credential is invalid, not valid yet, or used too often. */
const REFUSED: readonly RefusalCode[] = [
  'rate_limited',
  'unauthorized',
  'enrolment_refused',
  'node_revoked',
  'approval_pending',
];

const isRefused = (error: unknown): error is Refusal =>
  error instanceof Refusal && REFUSED.includes(error.code);
