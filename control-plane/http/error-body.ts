// Every "no" of the API as `{error, message, …}`: the one place that knows HTTP statuses of refusals.
import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { Logger } from '#shared/log.ts';
import { Refusal, type RefusalCode } from '../domain/refusal.ts';

export const STATUS_OF = {
  invalid_request: 400,
  invalid_json: 400,
  destination_not_allowed: 400,
  unauthorized: 401,
  signature_mismatch: 401,
  no_active_subscription: 402,
  not_found: 404,
  phone_number_not_found: 404,
  call_not_found: 404,
  forbidden: 403,
  enrolment_refused: 403,
  node_revoked: 403,
  method_not_allowed: 405,
  payment_already_used: 409,
  subscription_not_bound: 409,
  line_busy: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  upgrade_required: 426,
  rate_limited: 429,
  internal_error: 500,
  phone_node_error: 502,
  phone_node_unreachable: 502,
  restarting: 503,
  overloaded: 503,
  pool_exhausted: 503,
  settlement_pending: 503,
  settlement_unavailable: 503,
} as const satisfies Record<RefusalCode, number>;

export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: { error: string; message: string } & Record<string, unknown>;
}

/** What a thrown thing is answered with. Anything but a `Refusal` is our fault, and says nothing of the inside. */
export function answerOf(error: unknown, log: Logger): ErrorAnswer {
  if (error instanceof Refusal) {
    return {
      status: STATUS_OF[error.code],
      headers: error.headers,
      body: { ...error.details, error: error.code, message: error.message },
    };
  }
  const requestId = randomUUID();
  log.error({ err: error, requestId }, 'request failed');
  return {
    status: STATUS_OF.internal_error,
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
