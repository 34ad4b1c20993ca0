// Every route of the public API: method, path, authentication, handler.
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { OPERATION } from '#shared/api/operations.ts';
import { REPLAYED_PER_HOUR_MAX } from '#shared/api/webhooks.ts';
import { ENROL_PATH, enrolRequestSchema } from '#shared/link/enrolment.ts';
import { API_CATALOG_LINK } from '../discovery/well-known.ts';
import { Refusal } from '../domain/refusal.ts';
import { type AuthParts, signIn } from '../handlers/auth.ts';
import { type CatalogParts, catalog, landing, TOOLS_PATH } from '../handlers/catalog.ts';
import { demo } from '../handlers/demo.ts';
import { type EnrolParts, enrol } from '../handlers/enrolment.ts';
import { type ReceiptParts, receipts, receiptsOfWallet } from '../handlers/receipts.ts';
import { deleteAll, deleteOne, type InboxClaims, messages, type SmsParts, send } from '../handlers/sms.ts';
import { availability, describeNumber, type SubscribeParts, subscribe } from '../handlers/subscription.ts';
import { calls, dialCall, hangUpCall, type VoiceParts } from '../handlers/voice.ts';
import { joinWaitlist, type WaitlistParts } from '../handlers/waitlist.ts';
import { issueNonce } from '../handlers/wallet-proof.ts';
import * as webhooks from '../handlers/webhooks.ts';
import { createToolEndpoint, type ToolEndpointParts } from '../mcp/tool-endpoint.ts';
import type { Limit } from '../metrics/metric-events.ts';
import { didDocument } from '../receipts/did.ts';
import { type AnswerParts, createAnswer } from './answer.ts';
import { clientNetworkOf } from './client-network.ts';
import { untilGone } from './connections.ts';
import { type HealthParts, routeHealth } from './health.ts';
import { onlyHeader } from './only-header.ts';
import { prefersHtml, sendPage, serveDocument } from './pages.ts';
import { readBody } from './request-body.ts';
import {
  countRefused,
  createAddressLimit,
  createAmountLimit,
  createRequestLimit,
  type RequestLimit,
} from './request-limit.ts';
import { requestIdOf } from './request-record.ts';
import { serveTools } from './tool-route.ts';
import { routeWaitlistPages } from './waitlist-pages.ts';

interface RouteLimits {
  /** Requests per subscription, over all of its tokens. */
  tokenRequestsPerMinute: number;
  noncesPerMinute: number;
  signInsPerMinute: number;
  waitlistPerMinute: number;
  refusedTransfersPerDay: number;
}

type RouteParts = Omit<AnswerParts, 'limits'> &
  AuthParts &
  SubscribeParts &
  SmsParts &
  VoiceParts &
  EnrolParts &
  CatalogParts &
  HealthParts &
  WaitlistParts &
  ReceiptParts &
  webhooks.WebhookParts &
  ToolEndpointParts &
  RouteLimits & { inbox: InboxClaims; addressLimit: RequestLimit };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Refused enrollments per address; an operator who mistypes needs a few. */
const ENROLMENTS_REFUSED_MAX = 10;

export function createRouter(parts: RouteParts): Router {
  // One spelling per path: a proxy that blocks a path must block every spelling of it.
  const router = new Router({ sensitive: true, strict: true });
  const perMinute = (name: Limit, max: number) =>
    createAddressLimit(parts.clock, { name, max, withinMs: MINUTE_MS });
  const enrolments = perMinute('enrolment', ENROLMENTS_REFUSED_MAX);
  const limits = {
    address: parts.addressLimit,
    subscription: createRequestLimit(parts.clock, {
      name: 'token',
      max: parts.tokenRequestsPerMinute,
      withinMs: MINUTE_MS,
    }),
  };
  // Log lines of these parts contain the request id.
  const partsOf = (ctx: Context) => ({ ...parts, log: parts.log.child({ requestId: requestIdOf(ctx) }) });
  const answer = createAnswer(router, { ...parts, limits });
  const linked: Middleware = (ctx, next) => {
    ctx.set('Link', API_CATALOG_LINK);
    return next();
  };
  const limited: Middleware = async (ctx, next) => {
    ctx.set((await limits.address.count(ctx.ip)).headers);
    return next();
  };
  // By address only: no client can use up the attempts for another client's wallet.
  const limitNonces = perMinute('nonce', parts.noncesPerMinute);
  const limitSignIns = perMinute('auth', parts.signInsPerMinute);
  const refusedTransfers = createAddressLimit(parts.clock, {
    name: 'refused_transfers',
    max: parts.refusedTransfersPerDay,
    withinMs: DAY_MS,
  });
  const limitWaitlist = perMinute('waitlist', parts.waitlistPerMinute);

  router.get('/', linked, async (ctx, next) => {
    if (!prefersHtml(ctx)) return next();
    ctx.set((await limits.address.count(ctx.ip)).headers);
    sendPage(ctx, await landing(parts));
  });
  answer(OPERATION.catalog, async () => catalog(parts));
  routeHealth(router, parts);
  answer(OPERATION.availability, async () => availability(parts));
  routeWaitlistPages(router, parts, { join: limitWaitlist, unsubscribe: limits.address });
  answer(OPERATION.waitlist, async ({ body }) => joinWaitlist(parts, body), limitWaitlist);
  answer(OPERATION.demo, async () => demo());
  for (const { mediaType, path, text } of parts.files)
    router.get(
      path,
      linked,
      limited,
      serveDocument(() => text(new Date(parts.clock.now())), mediaType),
    );

  router.post(TOOLS_PATH, serveTools(createToolEndpoint(parts), { ...parts, limits }));

  router.post(OPERATION.subscribe.path, limited, async (ctx) => {
    const headers = {
      payment: onlyHeader(ctx.req, 'X-PAYMENT'),
      paymentSignature: onlyHeader(ctx.req, 'PAYMENT-SIGNATURE'),
      authorization: onlyHeader(ctx.req, 'Authorization'),
    };
    const result = await subscribe(parts, headers, {
      network: turnOf(ctx),
      refusedTransfers: {
        check: async () => (await refusedTransfers.count(ctx.ip)).giveBack(),
        // Of parallel payments, some may be beyond the limit.
        count: async () => void (await refusedTransfers.count(ctx.ip).catch(() => undefined)),
      },
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
  answer(OPERATION.nonce, async () => issueNonce(parts), limitNonces);
  answer(OPERATION.signIn, async ({ ctx, body }) => signIn(parts, body, turnOf(ctx)), limitSignIns);
  answer(OPERATION.number, async ({ subscription }) => describeNumber(subscription));

  answer(OPERATION.send, async ({ ctx, subscription, body }) => send(partsOf(ctx), subscription, body));
  answer(OPERATION.receive, async ({ subscription, query }) => parts.inbox.claim(subscription, query));
  answer(OPERATION.messages, async ({ subscription, query }) => messages(parts, subscription, query));

  answer(OPERATION.deleteMessage, async ({ subscription, params }) => deleteOne(parts, subscription, params));
  answer(OPERATION.deleteMessages, async ({ subscription, query }) => deleteAll(parts, subscription, query));

  answer(OPERATION.dial, async ({ ctx, subscription, body }) => {
    const check = () => parts.authenticate(ctx.headers.authorization);
    return parts.validCallers.during({ check, subscription }, untilGone(ctx.res), (signal) =>
      dialCall(partsOf(ctx), subscription, body, signal),
    );
  });
  answer(OPERATION.hangUp, async ({ subscription, body }) => hangUpCall(parts, subscription, body));
  answer(OPERATION.calls, async ({ subscription, query }) => calls(parts, subscription, query));

  answer(OPERATION.receipts, async ({ subscription, query }) => receipts(parts, subscription, query));
  answer(
    OPERATION.walletReceipts,
    async ({ ctx, body }) => receiptsOfWallet(parts, body, turnOf(ctx)),
    limitSignIns,
  );
  answer(OPERATION.receiptKeys, async () => parts.receipts.keySet());
  router.get('/.well-known/did.json', limited, async (ctx) => {
    const { keys } = await parts.receipts.keySet();
    ctx.type = 'application/did+json';
    ctx.body = JSON.stringify(didDocument(parts.baseUrl, keys));
  });

  const replays = createAmountLimit(parts.clock, {
    name: 'webhook_replays',
    what: `The ${REPLAYED_PER_HOUR_MAX} replays and tests of an hour`,
    max: REPLAYED_PER_HOUR_MAX,
    withinMs: HOUR_MS,
  });
  answer(OPERATION.addWebhook, async ({ subscription, body }) => webhooks.add(parts, subscription, body));
  answer(OPERATION.listWebhooks, async ({ subscription }) => webhooks.list(parts, subscription));
  answer(OPERATION.changeWebhook, async ({ subscription, params, body }) =>
    webhooks.change(parts, subscription, { ...params, change: body }),
  );
  answer(OPERATION.deleteWebhook, async ({ subscription, params }) =>
    webhooks.remove(parts, subscription, params),
  );
  answer(OPERATION.rotateWebhook, async ({ subscription, params }) =>
    webhooks.rotate(parts, subscription, params),
  );
  answer(OPERATION.testWebhook, async ({ subscription, params }) =>
    webhooks.test({ ...parts, replays }, subscription, params),
  );
  answer(OPERATION.listDeliveries, async ({ subscription, params, query }) =>
    webhooks.deliveries(parts, subscription, { ...params, query }),
  );
  answer(OPERATION.replayWebhook, async ({ subscription, params, body }) =>
    webhooks.replay({ ...parts, replays }, subscription, { ...params, asked: body }),
  );
  for (const path of ['/voice/stream/:callId', '/voice/presence/:number']) {
    router.get(path, () => {
      throw new Refusal('upgrade_required', 'Open this URL as a WebSocket.', {
        headers: { Upgrade: 'websocket' },
      });
    });
  }

  router.post(ENROL_PATH, async (ctx) => {
    const request = await readBody(ctx, enrolRequestSchema);
    ctx.body = await countRefused(enrolments, ctx.ip, () => enrol(partsOf(ctx), request));
  });
  return router;
}

/** The network that takes turns with others for slow checks: an IPv4 address, or a /48 of IPv6. */
function turnOf(ctx: Context): string {
  const { network, site = network } = clientNetworkOf(ctx.ip);
  return site;
}
