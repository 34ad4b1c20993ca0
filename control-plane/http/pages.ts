// Pages for people, beside the API: who prefers HTML gets it at the paths that programs use.
import type { Context } from 'koa';
import { CONTENT_SECURITY_POLICY } from '../pages/page.ts';

/** True when the client prefers HTML to JSON (RFC 9110 §12.5.1); who does not care gets JSON. */
export function prefersHtml(ctx: Context): boolean {
  ctx.vary('Accept');
  return ctx.accepts('application/json', 'text/html') === 'text/html';
}

/** Answers with a page. */
export function sendPage(ctx: Context, page: string, status = 200): void {
  ctx.status = status;
  ctx.set({
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Content-Type': 'text/html; charset=utf-8',
    'Referrer-Policy': 'no-referrer',
  });
  ctx.body = page;
}
