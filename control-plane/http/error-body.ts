// Every refusal of the API as `{error, message, …}`, or as a problem (RFC 9457) for clients that prefer it.
import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { REFUSALS, type RefusalCode } from '#shared/api/refusals.ts';
import type { Logger } from '#shared/log.ts';
import { DatabaseUnavailable, Refusal } from '../domain/refusal.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import { REQUEST_ID, setHeaders } from './headers.ts';

export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: { error: RefusalCode; message: string; request_id: string } & Record<string, unknown>;
}

/** Seconds. A database needs some to restart or fail over. */
const UNAVAILABLE_RETRY_SECONDS = 5;

/**
 * The response to a thrown value; `requestId` identifies it in the log. Anything except a `Refusal` or an unavailable database is an
 * internal error, and its response reveals no details.
 */
export function errorAnswerOf(thrown: unknown, log: Logger, requestId: string = randomUUID()): ErrorAnswer {
  const error = thrown instanceof DatabaseUnavailable ? unavailable(thrown) : thrown;
  if (error instanceof Refusal) {
    const { status } = REFUSALS[error.code];
    const { cause, code } = error;
    // A refusal that the service itself causes affects every client: the operator must see it in the log.
    if (status >= 500 && cause !== undefined) log.warn({ err: cause, code, requestId }, 'request refused');
    else log.debug({ code, requestId }, 'request refused');
    emitMetric({ kind: 'refused', code });
    return {
      status,
      headers: error.headers,
      body: { ...error.details, error: error.code, message: error.message, request_id: requestId },
    };
  }
  log.error({ err: error, requestId }, 'request failed');
  emitMetric({ kind: 'refused', code: 'internal_error' });
  return {
    status: REFUSALS.internal_error.status,
    headers: {},
    body: {
      error: 'internal_error',
      message: 'An internal error occurred. Its details are in the log of the service.',
      request_id: requestId,
    },
  };
}

/** It may occur at any moment of a request, so the message must be true for all of them. */
const unavailable = ({ cause }: DatabaseUnavailable): Refusal =>
  new Refusal(
    'unavailable',
    'The service is unavailable at the moment. It may have carried out this request: check before you repeat a change.',
    { cause, headers: { 'Retry-After': String(UNAVAILABLE_RETRY_SECONDS) } },
  );

const UNCACHED = { 'Cache-Control': 'no-store' };

/** The outermost middleware: every refusal gets a body, and nothing is cached. */
export function errorBody({ baseUrl, log }: { baseUrl: string; log: Logger }): Middleware {
  return async (ctx, next) => {
    setHeaders(ctx, UNCACHED);
    try {
      await next();
    } catch (error) {
      const answer = errorAnswerOf(error, log, ctx.response.get(REQUEST_ID));
      ctx.status = answer.status;
      ctx.set(answer.headers);
      if (prefersProblem(ctx)) {
        ctx.body = problemOf(baseUrl, answer.body);
        ctx.type = PROBLEM_TYPE;
      } else ctx.body = answer.body;
    }
  };
}

const PROBLEM_TYPE = 'application/problem+json';

/** Whether the client prefers it to JSON (RFC 9110 §12.5.1). */
const prefersProblem = (ctx: Context): boolean =>
  ctx.accepts('application/json', PROBLEM_TYPE) === PROBLEM_TYPE;

/** The fields of a problem (RFC 9457 §3.1), in addition to those of the refusal. */
const problemOf = (baseUrl: string, refusal: { error: RefusalCode; message: string }): object => ({
  ...refusal,
  type: `${baseUrl}/llms.txt#${refusal.error}`,
  title: REFUSALS[refusal.error].meaning,
  status: REFUSALS[refusal.error].status,
  detail: refusal.message,
});
