// Responds with pages for people and with documents. Pages are at the same paths as the API: clients that prefer HTML get them.
import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { CONTENT_SECURITY_POLICY } from '../pages/page.ts';

/** Whether the client prefers HTML to JSON (RFC 9110 §12.5.1). Without a preference it gets JSON. */
export function prefersHtml(ctx: Context): boolean {
  ctx.vary('Accept');
  return ctx.accepts('application/json', 'text/html') === 'text/html';
}

/** Responds with a page. */
export function sendPage(ctx: Context, page: string, status = 200): void {
  ctx.status = status;
  ctx.set({
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Content-Type': 'text/html; charset=utf-8',
    'Referrer-Policy': 'no-referrer',
  });
  ctx.body = page;
}

const CACHE_CONTROL = 'public, max-age=3600';

/** Responds with a text of a media type; 304 if the client has it (RFC 9110 §13.1.2). */
export function serveDocument(textNow: () => string, mediaType: string): Middleware {
  return (ctx) => {
    const text = textNow();
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    ctx.set({ 'Cache-Control': CACHE_CONTROL, ETag: etag, 'Content-Type': mediaType });
    ctx.status = 200;
    // Koa would also evaluate Cache-Control, which browsers add to a conditional request of a page.
    if (isKnown(ctx.get('If-None-Match'), etag)) ctx.status = 304;
    else ctx.body = text;
  };
}

const isKnown = (condition: string, etag: string): boolean =>
  condition.split(',').some((known) => ['*', etag, `W/${etag}`].includes(known.trim()));
