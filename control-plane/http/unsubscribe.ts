// The link at the end of a waitlist mail: a page with a button for people, one POST for mail programs (RFC 8058).
import { createHash } from 'node:crypto';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { check } from '../domain/checked-input.ts';
import { UNSUBSCRIBE_PATH } from '../domain/waitlist-mail.ts';
import { leaveWaitlist, type WaitlistParts } from '../handlers/waitlist.ts';

export interface UnsubscribeParts extends WaitlistParts {
  serviceName: string;
}

const querySchema = z.object({
  token: z.string('must be that of a link').regex(/^[\w-]{1,64}$/, 'must be that of a link'),
});

const STYLE =
  ':root{color-scheme:light dark;font:18px/1.5 system-ui,sans-serif}' +
  'main{max-width:32rem;margin:15vh auto;padding:0 1.5rem}' +
  'button{font:inherit;padding:.6rem 1.2rem;cursor:pointer}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Not limited by address: a mail provider sends the requests of all its users from a few. */
export function routeUnsubscribe(router: Router, parts: UnsubscribeParts): void {
  // Scanners follow every link of a mail: looking changes nothing.
  router.get(UNSUBSCRIBE_PATH, (ctx) => {
    check(querySchema, ctx.query);
    page(
      ctx,
      parts.serviceName,
      '<p>Take your address off the waitlist? It is deleted here, and gets no more mail.</p>' +
        '<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>',
    );
  });
  // The body says nothing that the request does not.
  router.post(UNSUBSCRIBE_PATH, async (ctx) => {
    await leaveWaitlist(parts, check(querySchema, ctx.query).token);
    page(ctx, parts.serviceName, '<p>Done: your address is not on the waitlist.</p>');
  });
}

function page(ctx: Context, serviceName: string, content: string): void {
  const title = escapeHtml(`${serviceName} waitlist`);
  ctx.set({
    'Content-Security-Policy':
      `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; ` +
      "base-uri 'none'; frame-ancestors 'none'",
    // The token is in the address.
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex',
  });
  ctx.type = 'html';
  ctx.body =
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>${title}</title><style>${STYLE}</style><main><h1>${title}</h1>${content}</main></html>`;
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
