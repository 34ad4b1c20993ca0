// Headers of every response: the request id, and rules for browsers.
import { randomUUID } from 'node:crypto';
import cors from '@koa/cors';
import type { Context, Middleware } from 'koa';

/** Id of one request: in its response, in the body of a refusal, and in the log. */
export const REQUEST_ID = 'X-Request-Id';

/**
 * Headers that scripts of other origins may read, besides those that are always readable (Fetch standard, "CORS-safelisted response-header
 * name").
 */
const READABLE = [
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
  'Payment-Receipt',
  'WWW-Authenticate',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'ETag',
  'Link',
  'Mcp-Session-Id',
  REQUEST_ID,
];
const PREFLIGHT_SECONDS = 86_400;
/** A year, which browsers' preload lists require (RFC 6797 §6.1.1). */
const STRICT_TRANSPORT = 'max-age=31536000';

/** Sets headers; throws if they were sent. Koa's `set` makes two copies of each, which took a seventh of the time of a poll. */
export function setHeaders({ res }: Context, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
}

export const nameRequest: Middleware = (ctx, next) => {
  ctx.res.setHeader(REQUEST_ID, randomUUID());
  return next();
};

const answerPreflight = cors({
  origin: '*',
  allowMethods: 'GET,HEAD,POST,PATCH,DELETE',
  maxAge: PREFLIGHT_SECONDS,
});

const OPEN = {
  Vary: 'Origin',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': READABLE.join(','),
};

/** Pages of any origin may call the API: it uses no cookies. So these headers are constant, except in the response to a preflight. */
export const openToPages: Middleware = (ctx, next) => {
  if (ctx.method === 'OPTIONS') return answerPreflight(ctx, next);
  setHeaders(ctx, OPEN);
  return next();
};

/** `isEncrypted`: clients reach the service only by https. */
export function protectBrowsers({ isEncrypted }: { isEncrypted: boolean }): Middleware {
  const headers = {
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...(isEncrypted ? { 'Strict-Transport-Security': STRICT_TRANSPORT } : {}),
  };
  return (ctx, next) => {
    setHeaders(ctx, headers);
    return next();
  };
}
