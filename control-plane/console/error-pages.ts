// Every refusal and error of the console as a page that gives the reason.
import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import * as z from 'zod';
import { REFUSALS } from '#shared/api/refusals.ts';
import { type Html, html } from '#shared/html.ts';
import type { Logger } from '#shared/log.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { DatabaseUnavailable, Refusal } from '../domain/refusal.ts';
import { fieldTitle } from './pages/confirm.ts';
import { framed, message } from './pages/frame.ts';
import { type BackLink, backOf, findSession } from './session/request-state.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  401: 'Sign in',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Nothing was changed',
  429: 'Too many attempts',
  503: 'Not available',
};

const RETRY_SECONDS = 5;
const NO_DATABASE = 'The database does not respond';
const NO_DATABASE_TEXT = `The console shows nothing until the service reaches its database again. Check that Postgres runs and that the service can connect to it: the log of the service has the error. Sales are closed meanwhile, and nodes keep their messages. This page tries again every ${RETRY_SECONDS} seconds.`;

const isRead = ({ method }: Context): boolean => method === 'GET' || method === 'HEAD';

export function errorPages({ log, serviceName }: { log: Logger; serviceName: string }): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, text, headers } = answerTo(error, log);
      // A form that is sent again is the operator's decision.
      const retrySeconds = error instanceof DatabaseUnavailable && isRead(ctx) ? RETRY_SECONDS : undefined;
      const title =
        error instanceof DatabaseUnavailable
          ? NO_DATABASE
          : error instanceof OperatorError && error.reason === 'unanswered'
            ? 'Outcome unknown'
            : (TITLES[status] ?? 'Something went wrong');
      const back =
        retrySeconds === undefined
          ? backLinks(backOf(ctx), error)
          : html`<p class="actions"><a class="button" href="${ctx.url}">Try again now</a></p>`;
      ctx.status = status;
      ctx.set(headers);
      ctx.type = 'html';
      ctx.body = framed(
        { title, serviceName, session: findSession(ctx), place: '', retrySeconds },
        message(title, text, back),
      );
    }
  };
}

/** A bad entry can be made again at once. */
function backLinks(back: BackLink | undefined, error: unknown): Html {
  const again =
    error instanceof z.ZodError && back?.question !== undefined
      ? html`<a class="button" href="${back.question}">Enter it again</a>`
      : html``;
  const page = back === undefined ? html`` : html`<a class="button" href="${back.page}">Back to the page</a>`;
  return html`<p class="actions">${again}${page}<a class="button" href="/">Back to the fleet</a></p>`;
}

/** With the name of the field as the form writes it. */
function entryProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  const problem = issue?.message ?? 'invalid';
  return field === '' ? problem : `${fieldTitle(field)}: ${problem}`;
}

/** After `unanswered` the action may still be carried out, and may be requested again. */
const STATUS = { refused: 400, unavailable: 409, unanswered: 503, unreachable: 503 } as const;

/** Any other error is a fault of the service. The page shows only its id. */
function answerTo(
  error: unknown,
  log: Logger,
): { status: number; text: string; headers: Record<string, string> } {
  if (error instanceof Refusal) {
    const { cause, code, headers, message } = error;
    if (cause !== undefined) log.warn({ err: cause, code }, 'console request refused');
    return { status: REFUSALS[code].status, text: message, headers };
  }
  if (error instanceof DatabaseUnavailable) {
    log.warn({ err: error.cause, code: 'unavailable' }, 'console request refused');
    return {
      status: 503,
      text: NO_DATABASE_TEXT,
      headers: { 'Retry-After': String(RETRY_SECONDS) },
    };
  }
  if (error instanceof OperatorError)
    return { status: STATUS[error.reason], text: error.message, headers: {} };
  if (error instanceof z.ZodError) {
    return { status: 400, text: entryProblem(error), headers: {} };
  }
  const requestId = randomUUID();
  log.error({ err: error, requestId }, 'console request failed');
  return {
    status: 500,
    text: `The log of the service has the details, with the id ${requestId}.`,
    headers: {},
  };
}
