// Security headers of every page: it loads nothing from outside, and is not framed, cached or sent as a referrer.
import type { Middleware } from 'koa';
import { contentSecurityPolicy } from '#shared/content-security-policy.ts';

const OWN = "'self'";

const HEADERS = {
  'Content-Security-Policy': contentSecurityPolicy({
    scripts: OWN,
    styles: OWN,
    connections: OWN,
    forms: OWN,
    images: OWN,
  }),
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
