// Pages for people, at the same paths as the API: clients that prefer HTML get them.
import type { Context } from 'koa';
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
