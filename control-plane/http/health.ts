// Liveness and readiness of this instance, for proxies and supervisors, on the API's port.
import type Router from '@koa/router';
import { type Clock, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { requestIdOf } from './request-record.ts';

/** A supervisor checks every few seconds, and gives up after as long. */
const CHECK_TIMEOUT_MS = 2_000;

/** More frequent checks get the same result. */
const MEMORY_MS = 1_000;

export interface HealthParts {
  log: Logger;
  /** Checks of the parts that every request needs, by name; each rejects when its part does not work. */
  checks: Readonly<Record<string, () => Promise<void>>>;
  /** Problems of parts that most requests do not need, by name; undefined if there is none. */
  concerns: Readonly<Record<string, () => string | undefined>>;
}

/**
 * `/health/live` is 200 as long as the process responds; `/health/ready` is 200 when all checks pass, else 503. A concern does not take the
 * instance out of service, because texts and calls work without payments. It is `warn` in the body (draft-inadarei-api-health-check).
 * `/health/client` returns the client's address as the service sees it, and the number of entries in X-Forwarded-For: `check` compares them
 * with the setting of the proxies.
 */
export function routeHealth(router: Router, { checks, concerns, log }: HealthParts): void {
  const failing = new Set<string>();
  router.get('/health/live', (ctx) => {
    ctx.body = { status: 'pass' };
  });
  router.get('/health/client', (ctx) => {
    const forwarded = ctx.get('X-Forwarded-For');
    ctx.body = { address: ctx.ip, forwarded: forwarded === '' ? 0 : forwarded.split(',').length };
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

/** Caches an expensive check: it runs once at a time and once a second, with a timeout. */
export function remembered(clock: Clock, check: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> | undefined;
  let isUnderWay = false;
  let endedAt = 0;
  return () => {
    const ageMs = clock.now() - endedAt;
    if (last !== undefined && (isUnderWay || (ageMs >= 0 && ageMs < MEMORY_MS))) return last;
    isUnderWay = true;
    last = withTimeout(clock, check(), CHECK_TIMEOUT_MS, () => new Error('no response in time')).finally(
      () => {
        isUnderWay = false;
        endedAt = clock.now();
      },
    );
    return last;
  };
}
