// The public API: requests, MCP, and the WebSockets of nodes and clients.
import type { IncomingMessage } from 'node:http';
import type { CreateResampler } from '#shared/voice/resample.ts';
import { discoveryFiles } from '../discovery/files.ts';
import { createInboxClaims } from '../handlers/sms.ts';
import { SmsWaits } from '../handlers/sms-waits.ts';
import { createAvailability } from '../handlers/subscription.ts';
import { addressOf, createApp } from '../http/app.ts';
import { type Authenticate, createBearer } from '../http/bearer.ts';
import { remembered } from '../http/health.ts';
import { createAddressLimit, type RequestLimit } from '../http/request-limit.ts';
import { createRouter } from '../http/routes.ts';
import type { HttpServer } from '../http/server.ts';
import { createNodeUpgrades } from '../http/upgrades/node-upgrade.ts';
import { SocketGuard } from '../http/upgrades/socket-guard.ts';
import { routeUpgrades } from '../http/upgrades/upgrades.ts';
import { createVoiceUpgrades } from '../http/upgrades/voice-upgrade.ts';
import type { Limit } from '../metrics/metric-events.ts';
import { createPaymentSigner } from '../receipts/payment-signer.ts';
import type { ReceiptSigner } from '../receipts/receipt-signer.ts';
import { CallWaits } from '../speech/call-waits.ts';
import { SpeechPrograms } from '../speech/speech-programs.ts';
import { SpokenCalls } from '../speech/spoken-calls.ts';
import { checkDatabase } from '../store/database/database.ts';
import { ValidCallers } from '../waits/valid-callers.ts';
import { WaitPlaces } from '../waits/wait-places.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { Sales } from './sales.ts';
import type { ServiceBase } from './store.ts';
import type { Telephony } from './telephony.ts';

const MINUTE_MS = 60_000;

interface ApiParts {
  sales: Sales;
  telephony: Telephony;
  webhooks: Webhooks;
  receipts: ReceiptSigner;
  createResampler: CreateResampler;
  server: HttpServer;
}

export function serveApi(base: ServiceBase, parts: ApiParts) {
  const { sales, telephony, webhooks, receipts, createResampler, server } = parts;
  const { config, db, bus, clock, log, url } = base;
  const limits = addressLimits(base);
  const authenticate = createBearer({ db, bus, clock, limit: limits.address });
  const waits = openWaits(base, telephony);
  const programs = new SpeechPrograms({ ...config, createResampler, clock, log });
  const health = serviceHealth(base, sales);
  const router = createRouter({
    ...config,
    ...base,
    ...sales,
    ...telephony,
    ...waits.parts,
    ...health.parts,
    authenticate,
    addressLimit: limits.address,
    spoken: new SpokenCalls({ ...base, ...telephony, programs, createResampler }),
    canSpeak: programs.canSpeak,
    webhooks,
    receipts,
    signer: createPaymentSigner({ key: () => receipts.key(), url, clock, log }),
    baseUrl: url,
    files: discoveryFiles({ ...config, baseUrl: url, sale: sales.sale }),
    availability: createAvailability(base),
    accountsToSignIn: (chainId: number) => sales.settlementNetworks.get(chainId),
  });
  const app = createApp(router, { baseUrl: url, clock, log, proxyHops: config.proxyHops });
  const request = { authenticate, addressOf: addressOf(app), limit: limits.link };
  const sockets = openSockets(base, telephony, { ...request, createResampler });
  server.serve(app, sockets.onUpgrade);
  return {
    waits: waits.size,
    sockets: sockets.open,
    /** Accepts nothing new: the instance reports that it is not ready, and all waits end. */
    close(): void {
      health.stopping();
      waits.drain();
    },
    async stop(): Promise<void> {
      // Before the port closes: nodes that reconnect get the answer that this instance is stopping.
      await sockets.nodes.drain();
      telephony.presence.stop();
      await telephony.live.stop();
      await sockets.voice.stop();
      await server.stop();
      await waits.idle();
    },
  };
}

/** Limits per client address: of requests, and of attempts to open a WebSocket. */
function addressLimits({ config, clock }: ServiceBase) {
  const perMinute = (name: Limit, max: number): RequestLimit =>
    createAddressLimit(clock, { name, max, withinMs: MINUTE_MS });
  return {
    address: perMinute('address', config.requestsPerMinute),
    link: perMinute('link', config.linkAttemptsPerMinute),
  };
}

/** Requests that wait for a message or for the end of a call. `parts`: those of the routes. */
function openWaits(base: ServiceBase, { live }: Telephony) {
  const places = new WaitPlaces(base.config.waitsPerToken);
  const inbox = createInboxClaims(base);
  const waits = new SmsWaits({ ...base, inbox, places });
  const callWaits = new CallWaits({ ...base, live, places });
  return {
    parts: { inbox, waits, callWaits, validCallers: new ValidCallers(base) },
    size: () => waits.size,
    drain(): void {
      waits.drain();
      callWaits.drain();
    },
    idle: () => waits.idle(),
  };
}

/** The checks of the health routes, and the concerns that they report. `parts`: those of the routes. */
function serviceHealth({ config, db, bus, clock }: ServiceBase, { networks }: Sales) {
  let isStopping = false;
  const checks = {
    database: remembered(clock, () => checkDatabase(db)),
    serving: async () => {
      if (isStopping) throw new Error('the service is stopping');
    },
  };
  const concerns = {
    payments: () => networks.trouble(),
    ...(config.natsUrl && { instances: () => bus.trouble() }),
  };
  return {
    parts: { checks, concerns },
    /** From now on the instance reports that it is not ready. */
    stopping(): void {
      isStopping = true;
    },
  };
}

interface SocketParts {
  authenticate: Authenticate;
  /** Address of the client. */
  addressOf: (request: IncomingMessage) => string;
  limit: RequestLimit;
  createResampler: CreateResampler;
}

/** The WebSockets of nodes and of clients. */
function openSockets(
  base: ServiceBase,
  telephony: Telephony,
  { authenticate, addressOf, limit, createResampler }: SocketParts,
) {
  const { socketsPerToken } = base.config;
  const { live, presence, tickets } = telephony;
  const guard = new SocketGuard({ ...base, authenticate, addressOf, socketsPerToken });
  const nodes = createNodeUpgrades(telephony.nodeParts);
  const voice = createVoiceUpgrades({ ...base, guard, live, tickets, presence, createResampler });
  return {
    nodes,
    voice,
    open: () => ({ node: nodes.open(), ...voice.open() }),
    onUpgrade: routeUpgrades({ ...voice, nodeLink: nodes.onUpgrade }, { limit, addressOf }),
  };
}
