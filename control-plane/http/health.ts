// Whether this instance lives, and whether it should be sent requests: for proxies and supervisors, on the API's port.
import type Router from '@koa/router';
import { type Clock, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { requestIdOf } from './request-record.ts';

/** A supervisor asks every few seconds, and gives up after as long. */
const CHECK_TIMEOUT_MS = 2_000;

/** A caller that asks more often gets the same answer. */
const MEMORY_MS = 1_000;

export interface HealthParts {
  log: Logger;
  /** The parts that every request needs, by name; each check rejects when its part does not work. */
  checks: Readonly<Record<string, () => Promise<void>>>;
  /** The parts that most requests do without, by name: what is wrong with the part, or undefined while nothing is. */
  concerns: Readonly<Record<string, () => string | undefined>>;
}

/**
 * `/health/live` as long as the process turns; `/health/ready` when all checks pass, else 503. A concern takes no instance
 * out of service: texts and calls go on without payments. It is `warn` in the body (draft-inadarei-api-health-check).
 */
export function routeHealth(router: Router, { checks, concerns, log }: HealthParts): void {
  const failing = new Set<string>();
  router.get('/health/live', (ctx) => {
    ctx.body = { status: 'pass' };
  });
  router.get('/health/ready', async (ctx) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        try {
          await check();
          if (failing.delete(name)) log.info({ check: name }, 'ready again');
          return [name, { status: 'pass' }] as const;
        } catch (error) {
          if (!failing.has(name))
            log.warn({ err: error, check: name, requestId: requestIdOf(ctx) }, 'not ready');
          failing.add(name);
          return [name, { status: 'fail' }] as const;
        }
      }),
    );
    const isReady = results.every(([, { status }]) => status === 'pass');
    const doubts = Object.entries(concerns).map(([name, concern]) => {
      const output = concern();
      return [name, output === undefined ? { status: 'pass' } : { status: 'warn', output }] as const;
    });
    const isWell = doubts.every(([, { status }]) => status === 'pass');
    ctx.status = isReady ? 200 : 503;
    ctx.body = {
      status: isReady ? (isWell ? 'pass' : 'warn') : 'fail',
      checks: Object.fromEntries([...results, ...doubts]),
    };
  });
}

/** A check that costs something: done once at a time and once a second, however many ask; in bounded time. */
export function remembered(clock: Clock, check: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> | undefined;
  let isUnderWay = false;
  let endedAt = 0;
  return () => {
    const ageMs = clock.now() - endedAt;
    if (last !== undefined && (isUnderWay || (ageMs >= 0 && ageMs < MEMORY_MS))) return last;
    isUnderWay = true;
    last = withTimeout(clock, check(), CHECK_TIMEOUT_MS, () => new Error('no answer in time')).finally(() => {
      isUnderWay = false;
      endedAt = clock.now();
    });
    return last;
  };
}
