// The Koa application of the console: headers, errors as pages, whose name was asked for, who is signed in, then the pages.
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { contentSecurityPolicy } from '#shared/content-security-policy.ts';
import { html } from '#shared/html.ts';
import { Refusal } from '../domain/refusal.ts';
import { routeActions } from './action-routes.ts';
import { serveAssets } from './browser/assets.ts';
import type { ConsolePageParts } from './console-parts.ts';
import { errorPages } from './error-pages.ts';
import { routeLists } from './list-routes.ts';
import { routeLive } from './live-routes.ts';
import { note, siteOfRequest } from './session/request-state.ts';
import type { Sessions } from './session/sessions.ts';
import { checkSameOrigin, ownPath, type SiteOptions, siteOf } from './session/site.ts';
import { routeSignIn } from './sign-in-routes.ts';

export function createConsoleApp(parts: ConsolePageParts): Koa {
  const { consoleUrl, proxyHops } = parts.site;
  // Without a configured proxy, the header is the client's own.
  const app = new Koa({ proxy: consoleUrl !== undefined && proxyHops > 0, maxIpsCount: proxyHops });
  // The server is not at fault when a client breaks its own connection.
  app.on('error', (error: unknown) => parts.log.debug({ err: error }, 'request ended early'));
  app.use(protectPages);
  app.use(errorPages(parts));
  app.use(checkSite(parts.site));
  app.use(serveAssets);
  const open = new Router();
  routeSignIn(open, parts);
  app.use(open.routes());
  app.use(requireSession(parts.sessions));
  const router = new Router();
  routeLive(router, parts);
  routeLists(router, parts);
  routeActions(router, parts);
  app.use(router.routes());
  app.use(() => {
    throw new Refusal('not_found', 'There is no such page.');
  });
  return app;
}

const isLooking = ({ method }: Context): boolean => method === 'GET' || method === 'HEAD';

/** A request that may change something must come from one of the console's pages. */
const checkSite =
  (options: SiteOptions): Middleware =>
  async (ctx, next) => {
    const site = siteOf(ctx, options);
    note(ctx, { site });
    if (!isLooking(ctx)) checkSameOrigin(ctx, site);
    await next();
  };

const requireSession =
  (sessions: Sessions): Middleware =>
  async (ctx, next) => {
    const session = await sessions.find(ctx, siteOfRequest(ctx));
    if (session !== undefined) {
      note(ctx, { session });
      return next();
    }
    if (!isLooking(ctx) || ctx.accepts('text/html', 'text/event-stream') !== 'text/html')
      throw new Refusal('unauthorized', 'The session has ended. Sign in again.');
    const path = ownPath(ctx.url);
    // A link elsewhere does not bring the cookie along; one of ours does.
    if (ctx.get('Sec-Fetch-Site') === 'cross-site') {
      ctx.type = 'html';
      ctx.body = sameSiteRedirect(path);
    } else ctx.redirect(path === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(path)}`);
  };

/** Between a link on another site and the page: browsers send the cookie with what our own page asks for. */
const sameSiteRedirect = (url: string): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Console</title><meta http-equiv="refresh" content="0; url=${url}"></head>
<body><p><a href="${url}">Continue</a></p></body></html>
`.text;

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

/** Each page loads nothing from outside, and is not framed, cached or sent as a referrer. */
const protectPages: Middleware = async (ctx, next) => {
  ctx.set(HEADERS);
  await next();
};
