// Signing in with a key, and out.
import type Router from '@koa/router';
import type { Context } from 'koa';
import { Refusal } from '../domain/refusal.ts';
import { signInPage } from './pages/sign-in.ts';
import { readFields, readOwnForm } from './session/forms.ts';
import { siteOfRequest } from './session/request-state.ts';
import type { Sessions } from './session/sessions.ts';
import { ownPath } from './session/site.ts';

export function routeSignIn(
  router: Router,
  { sessions, serviceName }: { sessions: Sessions; serviceName: string },
): void {
  const show = (ctx: Context, to: string, problem?: string): void => {
    ctx.type = 'html';
    ctx.body = signInPage({ serviceName, to, problem });
  };

  router.get('/sign-in', async (ctx) => {
    const to = ownPath(String(ctx.query['to'] ?? '/'));
    if ((await sessions.find(ctx, siteOfRequest(ctx))) !== undefined) ctx.redirect(to);
    else show(ctx, to);
  });

  router.post('/sign-in', async (ctx) => {
    const { key = '', to = '/' } = await readFields(ctx);
    try {
      await sessions.signIn(ctx, siteOfRequest(ctx), key.trim());
      ctx.status = 303;
      ctx.redirect(ownPath(to));
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'unavailable') throw error;
      ctx.status = error.code === 'rate_limited' ? 429 : 403;
      ctx.set(error.headers);
      show(ctx, ownPath(to), error.message);
    }
  });

  router.post('/sign-out', async (ctx) => {
    const site = siteOfRequest(ctx);
    const session = await sessions.find(ctx, site);
    if (session !== undefined) {
      await readOwnForm(ctx, session);
      await sessions.signOut(ctx, site, session);
    }
    ctx.status = 303;
    ctx.redirect('/sign-in');
  });
}
