// The site and the session of a request, as the middleware found them.
import type { Context } from 'koa';
import { Refusal } from '../../domain/refusal.ts';
import type { ConsoleSession } from './sessions.ts';
import type { Site } from './site.ts';

/** The page of what the action is about, and the question with its fields. */
export interface BackLink {
  page: string;
  question?: string | undefined;
}

interface Known {
  site?: Site;
  session?: ConsoleSession;
  /** Where an operator whose request is refused came from. */
  back?: BackLink;
}

const known = (ctx: Context): Known => ctx.state as unknown as Known;

export const note = (ctx: Context, what: Known): void => void Object.assign(known(ctx), what);

export function siteOfRequest(ctx: Context): Site {
  const { site } = known(ctx);
  if (site === undefined) throw new Error('the site of a request is checked first');
  return site;
}

export const findSession = (ctx: Context): ConsoleSession | undefined => known(ctx).session;

/** Throws `Refusal` `unauthorized` without one. */
export function sessionOf(ctx: Context): ConsoleSession {
  const { session } = known(ctx);
  if (session === undefined) throw new Refusal('unauthorized', 'Sign in first.');
  return session;
}

export const backOf = (ctx: Context): BackLink | undefined => known(ctx).back;
