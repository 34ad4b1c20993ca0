// Records each request: a log line if all requests are logged, and the metrics.
import type { Context, Middleware } from 'koa';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import { REQUEST_ID } from './headers.ts';

/** Label of a request without a route: its path is the client's and could be anything. */
const NO_ROUTE = 'none';

export function recordRequests({ clock, log }: { clock: Clock; log: Logger }): Middleware {
  return async (ctx, next) => {
    const startedAt = clock.now();
    await next();
    const ms = Math.max(0, clock.now() - startedAt);
    const { method, status } = ctx;
    const route = routeOf(ctx);
    emitMetric({ kind: 'answered', route, method, status, seconds: ms / 1000 });
    log.debug({ requestId: requestIdOf(ctx), route, method, status, ms }, 'request answered');
  };
}

export const requestIdOf = (ctx: Context): string => ctx.response.get(REQUEST_ID);

/** The template of the route, such as `/voice/presence/:number`. */
function routeOf(ctx: Context): string {
  const { _matchedRoute: route } = ctx as { _matchedRoute?: unknown };
  return typeof route === 'string' ? route : NO_ROUTE;
}
