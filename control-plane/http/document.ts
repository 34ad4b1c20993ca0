// A text that hardly ever changes: sent with an ETag, and not again to a client that already has it.
import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';

const CACHE_CONTROL = 'public, max-age=3600';

/** Answers with a text of a media type; 304 where the client has it (RFC 9110 §13.1.2). */
export function serveDocument(textNow: () => string, mediaType: string): Middleware {
  return (ctx) => {
    const text = textNow();
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    ctx.set({ 'Cache-Control': CACHE_CONTROL, ETag: etag, 'Content-Type': mediaType });
    ctx.status = 200;
    // Koa would also read Cache-Control, which browsers send beside a condition that the page sets.
    if (isKnown(ctx.get('If-None-Match'), etag)) ctx.status = 304;
    else ctx.body = text;
  };
}

const isKnown = (condition: string, etag: string): boolean =>
  condition.split(',').some((known) => ['*', etag, `W/${etag}`].includes(known.trim()));
