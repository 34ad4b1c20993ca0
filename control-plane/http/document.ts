// Serves a text that rarely changes, with an ETag: a client that already has it gets a 304.
import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';

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
