// The public API: requests, MCP, and the WebSockets of nodes and clients.
import type { CreateResampler } from '#shared/voice/resample.ts';
import { discoveryFiles } from '../discovery/files.ts';
import { createInboxClaims } from '../handlers/sms.ts';
import { SmsWaits } from '../handlers/sms-waits.ts';
import { addressOf, createApp } from '../http/app.ts';
import { createBearer } from '../http/bearer.ts';
import { remembered } from '../http/health.ts';
import { createAddressLimit } from '../http/request-limit.ts';
import { createRouter } from '../http/routes.ts';
import type { HttpServer } from '../http/server.ts';
import { createNodeUpgrades } from '../http/upgrades/node-upgrade.ts';
import { SocketGuard } from '../http/upgrades/socket-guard.ts';
import { routeUpgrades } from '../http/upgrades/upgrades.ts';
import { createVoiceUpgrades } from '../http/upgrades/voice-upgrade.ts';
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

export function serveApi(
  base: ServiceBase,
  { sales, telephony, webhooks, receipts, createResampler, server }: ApiParts,
) {
  const { config, db, bus, clock, log, url } = base;
  const { live, presence, tickets, nodeParts } = telephony;
  const addressLimit = createAddressLimit(clock, {
    name: 'address',
    max: config.requestsPerMinute,
    withinMs: MINUTE_MS,
  });
  const linkLimit = createAddressLimit(clock, {
    name: 'link',
    max: config.linkAttemptsPerMinute,
    withinMs: MINUTE_MS,
  });
  const authenticate = createBearer({ db, bus, clock, limit: addressLimit });
  let isStopping = false;
  const inbox = createInboxClaims({ db, bus, clock });
  const places = new WaitPlaces(config.waitsPerToken);
  const waits = new SmsWaits({ inbox, bus, clock, log, places });
  const programs = new SpeechPrograms({ ...config, createResampler, clock, log });
  const callWaits = new CallWaits({ ...base, live, places });
  const router = createRouter({
    ...config,
    ...base,
    ...sales,
    ...telephony,
    authenticate,
    addressLimit,
    inbox,
    waits,
    callWaits,
    validCallers: new ValidCallers(base),
    spoken: new SpokenCalls({ ...base, ...telephony, programs, createResampler }),
    canSpeak: programs.canSpeak,
    webhooks,
    receipts,
    signer: createPaymentSigner({ key: () => receipts.key(), url, clock, log }),
    baseUrl: url,
    checks: {
      database: remembered(clock, () => checkDatabase(db)),
      serving: async () => {
        if (isStopping) throw new Error('the service is stopping');
      },
    },
    concerns: {
      payments: () => sales.networks.trouble(),
      ...(config.natsUrl && {
        instances: () =>
          bus.isConnected ? undefined : 'NATS does not answer: other instances cannot be reached',
      }),
    },
    files: discoveryFiles({ ...config, baseUrl: url, sale: sales.sale }),
    accountsToSignIn: (chainId: number) => sales.settlementNetworks.get(chainId),
  });
  const app = createApp(router, { baseUrl: url, log, proxyHops: config.proxyHops });
  const clientOf = addressOf(app);
  const { socketsPerToken } = config;
  const guard = new SocketGuard({ authenticate, addressOf: clientOf, bus, clock, log, socketsPerToken });
  const nodes = createNodeUpgrades(nodeParts);
  const voice = createVoiceUpgrades({ db, guard, live, tickets, presence, clock, log, createResampler });
  const onUpgrade = routeUpgrades(
    { ...voice, nodeLink: nodes.onUpgrade },
    { limit: linkLimit, addressOf: clientOf },
  );
  server.serve(app, onUpgrade);
  return {
    waits: () => waits.size,
    sockets: () => ({ node: nodes.open(), ...voice.open() }),
    /** Accepts nothing new: the instance reports that it is not ready, and all waits end. */
    close(): void {
      isStopping = true;
      waits.drain();
      callWaits.drain();
    },
    async stop(): Promise<void> {
      // Before the port closes: nodes that reconnect get the answer that this instance is stopping.
      await nodes.drain();
      presence.stop();
      await live.stop();
      await voice.stop();
      await server.stop();
      await waits.settled();
    },
  };
}
