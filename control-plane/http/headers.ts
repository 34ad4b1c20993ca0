// Headers that every answer has: a name for the request, and what browsers may do with it.
import { randomUUID } from 'node:crypto';
import cors from '@koa/cors';
import type { Middleware } from 'koa';

/** Of one request: in its answer, in the body of a refusal, and in the log. */
export const REQUEST_ID = 'X-Request-Id';

/** Beyond what any page may read (Fetch standard, "CORS-safelisted response-header name"). */
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
/** A year, as browsers' lists ask for (RFC 6797 §6.1.1). */
const STRICT_TRANSPORT = 'max-age=31536000';

export const nameRequest: Middleware = async (ctx, next) => {
  ctx.set(REQUEST_ID, randomUUID());
  await next();
};

/** Pages of any origin may call: nothing here is done by a cookie. */
export const openToPages: Middleware = cors({
  origin: '*',
  allowMethods: 'GET,HEAD,POST,DELETE',
  exposeHeaders: READABLE,
  maxAge: PREFLIGHT_SECONDS,
  keepHeadersOnError: true,
});

/** `isEncrypted`: clients reach the service by https only. */
export function protectBrowsers({ isEncrypted }: { isEncrypted: boolean }): Middleware {
  const headers = {
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...(isEncrypted ? { 'Strict-Transport-Security': STRICT_TRANSPORT } : {}),
  };
  return async (ctx, next) => {
    ctx.set(headers);
    await next();
  };
}
