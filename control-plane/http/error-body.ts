// Every "no" of the API as `{error, message, …}`.
import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { REFUSALS } from '#shared/api/refusals.ts';
import type { Logger } from '#shared/log.ts';
import { Refusal } from '../domain/refusal.ts';

export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: { error: string; message: string } & Record<string, unknown>;
}

/** What a thrown thing is answered with. Anything but a `Refusal` is our fault, and says nothing of the inside. */
export function answerOf(error: unknown, log: Logger): ErrorAnswer {
  if (error instanceof Refusal) {
    return {
      status: REFUSALS[error.code].status,
      headers: error.headers,
      body: { ...error.details, error: error.code, message: error.message },
    };
  }
  const requestId = randomUUID();
  log.error({ err: error, requestId }, 'request failed');
  return {
    status: REFUSALS.internal_error.status,
    headers: {},
    body: { error: 'internal_error', message: 'something went wrong on our side', request_id: requestId },
  };
}

/** The outermost middleware: nothing leaves without a body, and nothing is cached. */
export function errorBody(log: Logger): Middleware {
  return async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    try {
      await next();
    } catch (error) {
      const answer = answerOf(error, log);
      ctx.status = answer.status;
      ctx.set(answer.headers);
      ctx.body = answer.body;
    }
  };
}
