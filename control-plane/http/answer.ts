// An operation of the API as a route: authentication, limits and validation in the same order for all of them.
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from '#shared/api/operations.ts';
import { check } from '../domain/checked-input.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Authenticate } from './bearer.ts';
import { setHeaders } from './headers.ts';
import { readBody, skipBody } from './request-body.ts';
import type { RequestLimit } from './request-limit.ts';

export interface AnswerParts {
  authenticate: Authenticate;
  /** Requests of an address without a token, and of a subscription with one. */
  limits: { address: RequestLimit; subscription: RequestLimit };
}

/** The validated input of a handler. */
interface Asked<O extends Operation> {
  ctx: Context;
  subscription: O['auth'] extends 'bearer' ? Subscription : undefined;
  body: BodyOf<O>;
  query: QueryOf<O>;
  params: ParamsOf<O>;
}

/** Routes an operation to its handler. `limit` replaces the usual limit of an address. */
export type AnswerOperation = <const O extends Operation>(
  operation: O,
  handler: (asked: Asked<O>) => Promise<AnswerOf<O>>,
  limit?: RequestLimit,
) => void;

export function createAnswer(router: Router, { authenticate, limits }: AnswerParts): AnswerOperation {
  async function holderOf(ctx: Context): Promise<Subscription> {
    const subscription = await authenticate(ctx.get('Authorization'), ctx.ip);
    setHeaders(ctx, (await limits.subscription.count(subscription.id)).headers);
    return subscription;
  }

  return (operation, handler, limit = limits.address) => {
    const { answer, auth, body, fieldRefusal, isClaim = false, method, params, path, query } = operation;
    const route = router.register(path.replace(/\{(\w+)\}/g, ':$1'), [method], async (ctx: Context) => {
      if (auth !== 'bearer') setHeaders(ctx, (await limit.count(ctx.ip)).headers);
      if (body === undefined && method !== 'get') await skipBody(ctx, { mayHave: method !== 'delete' });
      const asked = {
        ctx,
        subscription: auth === 'bearer' ? await holderOf(ctx) : undefined,
        body: body && (await readBody(ctx, body, fieldRefusal)),
        query: query && check(query, ctx.query),
        params: params && check(params, ctx['params']),
      };
      // The handler gets the input that its operation declares: TypeScript cannot follow both types through an optional field.
      const answered = await handler(asked as unknown as Asked<typeof operation>);
      if (answer === undefined) ctx.status = 204;
      else ctx.body = answered;
    });
    if (isClaim) route.methods = route.methods.filter((each) => each !== 'HEAD');
  };
}
