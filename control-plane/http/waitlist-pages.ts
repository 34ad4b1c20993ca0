// The waitlist for people: the form without scripts, and the link in its mails (RFC 8058).
import type Router from '@koa/router';
import type { Middleware } from 'koa';
import * as z from 'zod';
import { OPERATION } from '#shared/api/operations.ts';
import { html } from '#shared/html.ts';
import { check } from '../domain/checked-input.ts';
import { Refusal } from '../domain/refusal.ts';
import { UNSUBSCRIBE_PATH } from '../domain/waitlist-mail.ts';
import { type CatalogParts, filesByName } from '../handlers/catalog.ts';
import { joinWaitlist, leaveWaitlist, type WaitlistParts } from '../handlers/waitlist.ts';
import { messagePage } from '../pages/page.ts';
import { setHeaders } from './headers.ts';
import { sendPage } from './pages.ts';
import { readForm } from './request-body.ts';
import type { RequestLimit } from './request-limit.ts';

type WaitlistPagesParts = WaitlistParts & Pick<CatalogParts, 'files' | 'serviceName'>;

const unsubscribeSchema = z.object({
  token: z.string('must be that of a link').regex(/^[\w-]{1,64}$/, 'must be that of a link'),
});

const back = html`<p><a href="/#waitlist">Back to the waitlist</a></p>`;

export function routeWaitlistPages(
  router: Router,
  parts: WaitlistPagesParts,
  limits: Record<'join' | 'unsubscribe', RequestLimit>,
): void {
  const frame = { serviceName: parts.serviceName, files: filesByName(parts.files) };
  const { body: joinSchema, fieldRefusal, path } = OPERATION.waitlist;

  router.post(path, async (ctx, next) => {
    if (!ctx.is('urlencoded')) return next();
    setHeaders(ctx, (await limits.join.count(ctx.ip)).headers);
    const form = await readForm(ctx);
    try {
      const { registered_at: at } = await joinWaitlist(parts, check(joinSchema, form, fieldRefusal));
      const text = `On the waitlist since ${at.slice(0, 10)}. You will get one mail when numbers are available again.`;
      sendPage(ctx, messagePage(frame, { title: 'You are on the list', text, action: back }));
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'invalid_email') throw error;
      const text = 'The service cannot send mail to this address. Check it for typos.';
      sendPage(ctx, messagePage(frame, { title: 'Not on the list', text, action: back }), 400);
    }
  });

  // A mail provider sends the requests of all its users from few addresses. They get the limit of all requests, not the small one of
  // registrations.
  const unsubscribing: Middleware = async (ctx, next) => {
    setHeaders(ctx, (await limits.unsubscribe.count(ctx.ip)).headers);
    return next();
  };
  // Scanners follow every link of a mail, so a GET changes nothing.
  router.get(UNSUBSCRIBE_PATH, unsubscribing, (ctx) => {
    check(unsubscribeSchema, ctx.query);
    ctx.set('X-Robots-Tag', 'noindex');
    const action = html`<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`;
    const text = 'This deletes your address. You will get no more mail.';
    sendPage(ctx, messagePage(frame, { title: 'Leave the waitlist?', text, action }));
  });
  // The body has no information that the URL does not have.
  router.post(UNSUBSCRIBE_PATH, unsubscribing, async (ctx) => {
    await leaveWaitlist(parts, check(unsubscribeSchema, ctx.query).token);
    const text = 'Your address is no longer on the waitlist.';
    sendPage(ctx, messagePage(frame, { title: 'Done', text, action: back }));
  });
}
