// Every route of the public API: method, path, authentication, handler.
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { OPERATION } from '#shared/api/operations.ts';
import { REPLAYED_PER_HOUR_MAX } from '#shared/api/webhooks.ts';
import { ENROLL_PATH, enrollRequestSchema } from '#shared/link/enrollment.ts';
import { API_CATALOG_LINK } from '../discovery/well-known.ts';
import { Refusal } from '../domain/refusal.ts';
import { type AuthParts, signIn } from '../handlers/auth.ts';
import { type CatalogParts, catalog, landing, TOOLS_PATH } from '../handlers/catalog.ts';
import { demo } from '../handlers/demo.ts';
import { type EnrollParts, enroll } from '../handlers/enrollment.ts';
import { type ReceiptParts, receipts, receiptsOfWallet } from '../handlers/receipts.ts';
import { deleteAll, deleteOne, type InboxClaims, messages, type SmsParts, send } from '../handlers/sms.ts';
import {
  type AvailabilityParts,
  describeNumber,
  type SubscribeParts,
  subscribe,
} from '../handlers/subscription.ts';
import { calls, dialCall, hangUpCall, type VoiceParts } from '../handlers/voice.ts';
import { joinWaitlist, type WaitlistParts } from '../handlers/waitlist.ts';
import { issueNonce } from '../handlers/wallet-proof.ts';
import * as webhooks from '../handlers/webhooks.ts';
import { createToolEndpoint, type ToolEndpointParts } from '../mcp/tool-endpoint.ts';
import type { Limit } from '../metrics/metric-events.ts';
import { didDocument } from '../receipts/did.ts';
import { type AnswerOperation, type AnswerParts, createAnswer } from './answer.ts';
import { clientNetworkOf } from './client-network.ts';
import { untilGone } from './connections.ts';
import { setHeaders } from './headers.ts';
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
  AvailabilityParts &
  SmsParts &
  VoiceParts &
  EnrollParts &
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
const ENROLLMENTS_REFUSED_MAX = 10;

export function createRouter(parts: RouteParts): Router {
  // One spelling per path: a proxy that blocks a path must block every spelling of it.
  const router = new Router({ sensitive: true, strict: true });
  const limits = limitsOf(parts);
  const answer = createAnswer(router, { ...parts, limits });
  const limited: Middleware = async (ctx, next) => {
    setHeaders(ctx, (await limits.address.count(ctx.ip)).headers);
    return next();
  };
  const partsOf = (ctx: Context): RouteParts => ({
    ...parts,
    log: parts.log.child({ requestId: requestIdOf(ctx) }),
  });
  const routes = { router, answer, limits, limited, parts, partsOf };
  routeCatalog(routes);
  routeSubscription(routes);
  routeTexts(routes);
  routeCalls(routes);
  routeReceipts(routes);
  routeWebhooks(routes);
  routeUpgradeOnly(routes);
  routeEnrollment(routes);
  return router;
}

/** The parts of all routes. */
interface Routes {
  router: Router;
  answer: AnswerOperation;
  limits: ReturnType<typeof limitsOf>;
  /** Counts a request by address. */
  limited: Middleware;
  parts: RouteParts;
  /** Log lines of these parts contain the request id. */
  partsOf: (ctx: Context) => RouteParts;
}

function limitsOf({ clock, ...config }: RouteParts) {
  const perMinute = (name: Limit, max: number) =>
    createAddressLimit(clock, { name, max, withinMs: MINUTE_MS });
  return {
    address: config.addressLimit,
    subscription: createRequestLimit(clock, {
      name: 'token',
      max: config.tokenRequestsPerMinute,
      withinMs: MINUTE_MS,
    }),
    enrollments: perMinute('enrolment', ENROLLMENTS_REFUSED_MAX),
    // By address only: no client can use up the attempts for another client's wallet.
    nonces: perMinute('nonce', config.noncesPerMinute),
    signIns: perMinute('auth', config.signInsPerMinute),
    refusedTransfers: createAddressLimit(clock, {
      name: 'refused_transfers',
      max: config.refusedTransfersPerDay,
      withinMs: DAY_MS,
    }),
    waitlist: perMinute('waitlist', config.waitlistPerMinute),
    replays: createAmountLimit(clock, {
      name: 'webhook_replays',
      what: `The ${REPLAYED_PER_HOUR_MAX} replays and tests of an hour`,
      max: REPLAYED_PER_HOUR_MAX,
      withinMs: HOUR_MS,
    }),
  };
}

/** The offer, its pages and files, and the tools. */
function routeCatalog({ router, answer, limits, limited, parts }: Routes): void {
  const linked: Middleware = (ctx, next) => {
    ctx.set('Link', API_CATALOG_LINK);
    return next();
  };
  router.get('/', linked, async (ctx, next) => {
    if (!prefersHtml(ctx)) return next();
    setHeaders(ctx, (await limits.address.count(ctx.ip)).headers);
    sendPage(ctx, await landing(parts));
  });
  answer(OPERATION.catalog, async () => catalog(parts));
  routeHealth(router, parts);
  answer(OPERATION.availability, () => parts.availability());
  routeWaitlistPages(router, parts, { join: limits.waitlist, unsubscribe: limits.address });
  answer(OPERATION.waitlist, async ({ body }) => joinWaitlist(parts, body), limits.waitlist);
  answer(OPERATION.demo, async () => demo());
  for (const { mediaType, path, text } of parts.files)
    router.get(
      path,
      linked,
      limited,
      serveDocument(() => text(new Date(parts.clock.now())), mediaType),
    );

  router.post(TOOLS_PATH, serveTools(createToolEndpoint(parts), { ...parts, limits }));
}

function routeSubscription({ router, answer, limits, limited, parts }: Routes): void {
  router.post(OPERATION.subscribe.path, limited, async (ctx) => {
    const headers = {
      payment: onlyHeader(ctx.req, 'X-PAYMENT'),
      paymentSignature: onlyHeader(ctx.req, 'PAYMENT-SIGNATURE'),
      authorization: onlyHeader(ctx.req, 'Authorization'),
    };
    const result = await subscribe(parts, headers, {
      network: turnOf(ctx),
      refusedTransfers: {
        count: async () => {
          const counted = await limits.refusedTransfers.count(ctx.ip);
          return () => counted.giveBack();
        },
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
  answer(OPERATION.nonce, async () => issueNonce(parts), limits.nonces);
  answer(OPERATION.signIn, async ({ ctx, body }) => signIn(parts, body, turnOf(ctx)), limits.signIns);
  answer(OPERATION.number, async ({ subscription }) => describeNumber(subscription));
}

function routeTexts({ answer, parts, partsOf }: Routes): void {
  answer(OPERATION.send, async ({ ctx, subscription, body }) => send(partsOf(ctx), subscription, body));
  answer(OPERATION.receive, async ({ subscription, query }) => parts.inbox.claim(subscription, query));
  answer(OPERATION.messages, async ({ subscription, query }) => messages(parts, subscription, query));

  answer(OPERATION.deleteMessage, async ({ subscription, params }) => deleteOne(parts, subscription, params));
  answer(OPERATION.deleteMessages, async ({ subscription, query }) => deleteAll(parts, subscription, query));
}

function routeCalls({ answer, parts, partsOf }: Routes): void {
  answer(OPERATION.dial, async ({ ctx, subscription, body }) => {
    const check = () => parts.authenticate(ctx.headers.authorization);
    return parts.validCallers.during({ check, subscription }, untilGone(ctx.res), (signal) =>
      dialCall(partsOf(ctx), subscription, body, signal),
    );
  });
  answer(OPERATION.hangUp, async ({ subscription, body }) => hangUpCall(parts, subscription, body));
  answer(OPERATION.calls, async ({ subscription, query }) => calls(parts, subscription, query));
}

function routeReceipts({ router, answer, limits, limited, parts }: Routes): void {
  answer(OPERATION.receipts, async ({ subscription, query }) => receipts(parts, subscription, query));
  answer(
    OPERATION.walletReceipts,
    async ({ ctx, body }) => receiptsOfWallet(parts, body, turnOf(ctx)),
    limits.signIns,
  );
  answer(OPERATION.receiptKeys, async () => parts.receipts.keySet());
  router.get('/.well-known/did.json', limited, async (ctx) => {
    const { keys } = await parts.receipts.keySet();
    ctx.type = 'application/did+json';
    ctx.body = JSON.stringify(didDocument(parts.baseUrl, keys));
  });
}

function routeWebhooks({ answer, limits: { replays }, parts }: Routes): void {
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
}

/** The paths of the WebSockets, for requests that do not ask for one. */
function routeUpgradeOnly({ router }: Routes): void {
  for (const path of ['/voice/stream/:callId', '/voice/presence/:number']) {
    router.get(path, () => {
      throw new Refusal('upgrade_required', 'Open this URL as a WebSocket.', {
        headers: { Upgrade: 'websocket' },
      });
    });
  }
}

function routeEnrollment({ router, limits, partsOf }: Routes): void {
  router.post(ENROLL_PATH, async (ctx) => {
    const request = await readBody(ctx, enrollRequestSchema);
    ctx.body = await countRefused(limits.enrollments, ctx.ip, () => enroll(partsOf(ctx), request));
  });
}

/** The network that takes turns with others for slow checks: an IPv4 address, or a /48 of IPv6. */
function turnOf(ctx: Context): string {
  const { network, site = network } = clientNetworkOf(ctx.ip);
  return site;
}
