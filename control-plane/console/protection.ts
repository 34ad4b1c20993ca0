// What browsers are told of every page: nothing from outside, no frame, no copy, no word of where one came from.
import type { Middleware } from 'koa';

export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': CONSOLE_POLICY,
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  // With "no-referrer" browsers would write `Origin: null` into our own forms.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
};

export const protectPages: Middleware = async (ctx, next) => {
  ctx.set(HEADERS);
  await next();
};
