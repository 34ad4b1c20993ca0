// A refusal as a problem (RFC 9457), for clients that prefer it.
import type { Context } from 'koa';
import { REFUSALS, type RefusalCode } from '#shared/api/refusals.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** Whether the client prefers it to JSON (RFC 9110 §12.5.1). */
export const prefersProblem = (ctx: Context): boolean =>
  ctx.accepts('application/json', PROBLEM_TYPE) === PROBLEM_TYPE;

/** The fields of a problem (RFC 9457 §3.1), in addition to those of the refusal. */
export const problemOf = (baseUrl: string, refusal: { error: RefusalCode; message: string }): object => ({
  ...refusal,
  type: `${baseUrl}/llms.txt#${refusal.error}`,
  title: REFUSALS[refusal.error].meaning,
  status: REFUSALS[refusal.error].status,
  detail: refusal.message,
});
