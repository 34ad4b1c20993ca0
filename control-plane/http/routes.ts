// Every route of the public API on one page: method, path, who may, which handler.
import type { ServerResponse } from 'node:http';
import Router from '@koa/router';
import type { Context } from 'koa';
import {
  authRequestSchema,
  callsQuerySchema,
  dialRequestSchema,
  hangUpRequestSchema,
  messagesQuerySchema,
  nonceRequestSchema,
  receiveQuerySchema,
  smsSendRequestSchema,
} from '#shared/api/requests.ts';
import { ENROL_PATH, enrolRequestSchema } from '#shared/link/enrolment.ts';
import { Refusal } from '../domain/refusal.ts';
import { type AuthParts, issueNonce, signIn } from '../handlers/auth.ts';
import { type EnrolParts, enrol } from '../handlers/enrolment.ts';
import { createReceive, messages, type SmsParts, send } from '../handlers/sms.ts';
import { availability, describeNumber, type SubscribeParts, subscribe } from '../handlers/subscription.ts';
import { calls, dialCall, hangUpCall, type VoiceParts } from '../handlers/voice.ts';
import { createAttemptLimit } from './attempt-limit.ts';
import type { Authenticate } from './bearer.ts';
import { check, readBody } from './request-body.ts';
import { createRequestLimit } from './request-limit.ts';

export interface RouteLimits {
  /** Of one address. */
  noncesPerMinute: number;
  signInsPerMinute: number;
}

export type RouteParts = AuthParts &
  SubscribeParts &
  SmsParts &
  VoiceParts &
  EnrolParts &
  RouteLimits & { authenticate: Authenticate };

const MINUTE_MS = 60_000;

/** Refused enrolments of an address; an operator who mistypes needs a few. */
const ENROLMENTS_REFUSED_MAX = 10;

/** Aborted when the connection of a request is gone before it was answered. */
function untilGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

export function createRouter(parts: RouteParts): Router {
  const router = new Router();
  const bearer = (ctx: Context) => parts.authenticate(ctx.get('Authorization'));
  const receive = createReceive(parts);
  const enrolments = createAttemptLimit(parts.clock, ENROLMENTS_REFUSED_MAX, MINUTE_MS);
  const perMinute = (name: string, max: number) =>
    createRequestLimit(parts.clock, { name, max, withinMs: MINUTE_MS });
  // By address only: nobody can use up the attempts of another one's wallet.
  const limitNonces = perMinute('nonce', parts.noncesPerMinute);
  const limitSignIns = perMinute('auth', parts.signInsPerMinute);

  router.post('/subscribe', async (ctx) => {
    const result = await subscribe(parts, {
      payment: ctx.headers['x-payment']?.toString(),
      paymentSignature: ctx.headers['payment-signature']?.toString(),
      authorization: ctx.headers.authorization,
    });
    if (result.kind === 'challenge') {
      ctx.status = 402;
      ctx.set(result.challenge.headers);
      ctx.body = result.challenge.body;
      return;
    }
    ctx.set(result.headers);
    ctx.body = result.body;
  });
  router.get('/availability', async (ctx) => {
    ctx.body = await availability(parts);
  });

  router.post('/auth/nonce', async (ctx) => {
    limitNonces(ctx.ip);
    await readBody(ctx, nonceRequestSchema);
    ctx.body = await issueNonce(parts);
  });
  router.post('/auth', async (ctx) => {
    limitSignIns(ctx.ip);
    ctx.body = await signIn(parts, await readBody(ctx, authRequestSchema));
  });

  router.get('/number', async (ctx) => {
    ctx.body = describeNumber(await bearer(ctx));
  });

  router.post('/sms/send', async (ctx) => {
    const subscription = await bearer(ctx);
    ctx.body = await send(parts, subscription, await readBody(ctx, smsSendRequestSchema));
  });
  router.get('/sms/receive', async (ctx) => {
    // The answer is the only copy that a claim gives out: it must have a body.
    if (ctx.method === 'HEAD')
      throw new Refusal('method_not_allowed', 'use GET', { headers: { Allow: 'GET' } });
    const subscription = await bearer(ctx);
    ctx.body = await receive(subscription, check(receiveQuerySchema, ctx.query));
  });
  router.get('/sms/messages', async (ctx) => {
    const subscription = await bearer(ctx);
    ctx.body = await messages(parts, subscription, check(messagesQuerySchema, ctx.query));
  });

  router.post('/voice/dial', async (ctx) => {
    const subscription = await bearer(ctx);
    const request = await readBody(ctx, dialRequestSchema);
    ctx.body = await dialCall(parts, subscription, request, untilGone(ctx.res));
  });
  router.post('/voice/hangup', async (ctx) => {
    const subscription = await bearer(ctx);
    ctx.body = await hangUpCall(parts, subscription, await readBody(ctx, hangUpRequestSchema));
  });
  router.get('/voice/calls', async (ctx) => {
    const subscription = await bearer(ctx);
    ctx.body = await calls(parts, subscription, check(callsQuerySchema, ctx.query));
  });
  for (const path of ['/voice/stream/:callId', '/voice/presence/:number']) {
    router.get(path, () => {
      throw new Refusal('upgrade_required', 'open this as a WebSocket', {
        headers: { Upgrade: 'websocket' },
      });
    });
  }

  router.post(ENROL_PATH, async (ctx) => {
    const request = await readBody(ctx, enrolRequestSchema);
    ctx.body = await enrolments.run(ctx.ip, () => enrol(parts, request));
  });
  return router;
}
