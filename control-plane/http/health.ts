// Whether this instance lives, and whether it should be sent requests: for proxies and supervisors, on the API's port.
import type Router from '@koa/router';
import { type Clock, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { requestIdOf } from './request-record.ts';

/** A supervisor asks every few seconds, and gives up after as long. */
const CHECK_TIMEOUT_MS = 2_000;

export interface HealthParts {
  clock: Clock;
  log: Logger;
  /** What must work for a request to be answered, by name; each rejects when it does not. */
  checks: Readonly<Record<string, () => Promise<void>>>;
}

/** `/health/live` as long as the process turns; `/health/ready` when all checks pass, else 503. */
export function routeHealth(router: Router, { checks, clock, log }: HealthParts): void {
  router.get('/health/live', (ctx) => {
    ctx.body = { status: 'pass' };
  });
  router.get('/health/ready', async (ctx) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        try {
          await withTimeout(clock, check(), CHECK_TIMEOUT_MS, () => new Error('no answer in time'));
          return [name, { status: 'pass' }] as const;
        } catch (error) {
          log.warn({ err: error, check: name, requestId: requestIdOf(ctx) }, 'not ready');
          return [name, { status: 'fail' }] as const;
        }
      }),
    );
    const isReady = results.every(([, { status }]) => status === 'pass');
    ctx.status = isReady ? 200 : 503;
    ctx.body = { status: isReady ? 'pass' : 'fail', checks: Object.fromEntries(results) };
  });
}
