// The Koa application: headers outermost, then errors, then the routes, then the 404 and 405 of unknown routes.
import { channel } from 'node:diagnostics_channel';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { isOAuthPath, tokenText } from '../discovery/protected-resource.ts';
import { Refusal } from '../domain/refusal.ts';
import { errorBody } from './error-body.ts';
import { nameRequest, openToPages, protectBrowsers } from './headers.ts';
import { recordRequests } from './request-record.ts';

/** Every response as it is sent, for subscribers of the channel (node:diagnostics_channel). */
export const ANSWERS = channel('simrack.http.answers');

export interface TellableAnswer {
  method: string;
  path: string;
  status: number;
  /** The body that Koa was given: an object is sent as JSON. */
  body: unknown;
}

/**
 * `proxyHops`: the number of proxies in front. They report the client's address; the last proxy's report is the last entry of
 * X-Forwarded-For.
 */
export function createApp(
  router: Router,
  { baseUrl, clock, log, proxyHops }: { baseUrl: string; clock: Clock; log: Logger; proxyHops: number },
): Koa {
  const app = new Koa({ proxy: proxyHops > 0, maxIpsCount: proxyHops });
  // A client that breaks its own connection is not a server error.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'request ended early'));
  app.use(publishAnswers);
  app.use(nameRequest);
  app.use(recordRequests({ clock, log }));
  app.use(openToPages);
  app.use(protectBrowsers({ isEncrypted: baseUrl.startsWith('https:') }));
  app.use(errorBody({ baseUrl, log }));
  app.use(router.routes());
  app.use(refuseUnrouted(router, baseUrl));
  return app;
}

/** The client's address of a request that bypasses the application, found in the same way. */
export const addressOf =
  (app: Koa) =>
  (request: IncomingMessage): string =>
    app.createContext(request, new ServerResponse(request)).ip;

const publishAnswers: Middleware = (ctx, next) =>
  ANSWERS.hasSubscribers ? publishAnswer(ctx, next) : next();

const publishAnswer: Middleware = async (ctx, next) => {
  await next();
  const { body, method, path, status } = ctx;
  ANSWERS.publish({ method, path, status, body } satisfies TellableAnswer);
};

function refuseUnrouted(router: Router, baseUrl: string): Middleware {
  return (ctx) => {
    // `OPTIONS *` is about the whole service (RFC 9110 §9.3.7).
    const isWhole = ctx.path === '*' && ctx.method === 'OPTIONS';
    const layers = isWhole ? router.stack : router.match(ctx.path, ctx.method).path;
    const allowed = new Set(layers.flatMap((layer) => layer.methods));
    if (allowed.size === 0) throw absent(ctx.path, baseUrl);
    const headers = { Allow: [...allowed, 'OPTIONS'].join(', ') };
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      ctx.set(headers);
      return;
    }
    // Each GET is also a HEAD, and OPTIONS only lists the methods.
    const useful = [...allowed].filter((method) => method !== 'HEAD').join(' or ');
    const message = `${ctx.path} does not support ${ctx.method}. Use ${useful}.`;
    throw new Refusal('method_not_allowed', message, { headers });
  };
}

/** A client of OAuth shows its user `error_description` (RFC 6749 §5.2, RFC 7591 §3.2.2). */
function absent(path: string, baseUrl: string): Refusal {
  if (!isOAuthPath(path)) return new Refusal('not_found', `Nothing exists at ${path}.`);
  const text = tokenText(baseUrl);
  return new Refusal('not_found', text, { details: { error_description: text } });
}
