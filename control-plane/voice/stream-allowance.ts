// How many messages the clients of a subscription may send, and which warnings about them were logged. All streams of a subscription share it.
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { TokenBucket } from '#shared/token-bucket.ts';

/** Limit of messages: a minute of 20 ms frames at once, and twenty times real time in the long run. Enough for any program, few enough to protect others. */
const MESSAGES = { burst: 3_000, perSecond: 1_000 };

/** Beyond it, the subscription that was silent for longest gets a new allowance. Each is a few hundred bytes. */
const REMEMBERED_MAX = 10_000;

export class StreamAllowance {
  readonly limit: TokenBucket;
  #callId: string | undefined;
  #warned = new Set<Problem>();

  constructor(clock: Clock) {
    this.limit = new TokenBucket(clock, MESSAGES);
  }

  /** The problems of this call that were logged. A subscription has one call at a time. */
  warnedIn(callId: string): Set<Problem> {
    if (callId !== this.#callId) this.#warned = new Set();
    this.#callId = callId;
    return this.#warned;
  }
}

/** The allowances of subscriptions, which all their tokens share. */
export class StreamAllowances {
  readonly #clock: Clock;
  readonly #bySubscription = new LRUCache<string, StreamAllowance>({ max: REMEMBERED_MAX });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(subscriptionId: string): StreamAllowance {
    const known = this.#bySubscription.get(subscriptionId) ?? new StreamAllowance(this.#clock);
    this.#bySubscription.set(subscriptionId, known);
    return known;
  }
}

/** `malformed`: not in the form of the protocol's messages; `invalid`: an unknown message, or one with missing or wrong fields. */
type Problem = 'malformed' | 'invalid';

const WARNINGS: Readonly<Record<Problem, string>> = {
  malformed: 'message of a bot ignored: not a message of its protocol',
  invalid: 'message of a bot ignored: unknown, or with missing or wrong fields',
};

export class IgnoredMessages {
  readonly #log: Logger;
  readonly #warned: Set<Problem>;

  /** `warned`: problems of the call that were logged. Earlier streams of the call share it. */
  constructor(log: Logger, warned: Set<Problem>) {
    this.#log = log;
    this.#warned = warned;
  }

  /** Logs the first one of each kind in a call, without its content. */
  add(problem: Problem): void {
    if (this.#warned.has(problem)) return;
    this.#warned.add(problem);
    this.#log.warn({ problem }, WARNINGS[problem]);
  }
}
