// The record of each request: a line of the log, where all requests are logged, and its place in the metrics.
import type { Context, Middleware } from 'koa';
import type { Logger } from '#shared/log.ts';
import { observe } from '../metrics/observation.ts';
import { REQUEST_ID } from './headers.ts';

/** Of a request that no route has: its path is the client's, and says anything. */
const NO_ROUTE = 'none';

export function recordRequests(log: Logger): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const ms = performance.now() - startedAt;
    const { method, status } = ctx;
    const route = routeOf(ctx);
    observe({ kind: 'answered', route, method, status, seconds: ms / 1000 });
    log.debug({ requestId: requestIdOf(ctx), route, method, status, ms: Math.round(ms) }, 'request answered');
  };
}

export const requestIdOf = (ctx: Context): string => ctx.response.get(REQUEST_ID);

/** The template of the route, such as `/voice/presence/:number`. */
function routeOf(ctx: Context): string {
  const { _matchedRoute: route } = ctx as { _matchedRoute?: unknown };
  return typeof route === 'string' ? route : NO_ROUTE;
}
