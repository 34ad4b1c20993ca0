// The composition root of the control plane: builds every part, wires them, starts and stops them in order.
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { type Clock, systemClock, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type MetricsServer, serveMetrics } from '#shared/process/metrics-server.ts';
import { FRAME_MS } from '#shared/voice/media.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import { alertChannelsOf } from './alerts/alert-channels.ts';
import { startAlerts } from './alerts/alert-service.ts';
import { writeBackup } from './backup/backup-writer.ts';
import { type Bus, createLocalBus } from './bus/bus.ts';
import { openSharedBus } from './bus/shared-bus.ts';
import { type Config, paymentNetworksOf, relayerKeyOf } from './config/config.ts';
import { mailSettingsOf } from './config/mail-options.ts';
import { openConsole } from './console/console.ts';
import { discoveryFiles } from './discovery/files.ts';
import { createInbox } from './handlers/sms.ts';
import { SmsWaits } from './handlers/sms-waits.ts';
import { repeat } from './housekeeping/repeat.ts';
import { addressOf, createApp } from './http/app.ts';
import { createBearer } from './http/bearer.ts';
import { remembered } from './http/health.ts';
import { createNodeUpgrades } from './http/node-upgrade.ts';
import { createAddressLimit } from './http/request-limit.ts';
import { createRouter } from './http/routes.ts';
import { type HttpServer, listenHttp } from './http/server.ts';
import { SocketGuard } from './http/socket-guard.ts';
import { routeUpgrades } from './http/upgrades.ts';
import { createVoiceUpgrades } from './http/voice-upgrade.ts';
import { WaitlistMailer } from './mail/waitlist-mailer.ts';
import type { Task } from './metrics/observation.ts';
import { ServiceMetrics } from './metrics/service-metrics.ts';
import { Fleet } from './nodes/fleet.ts';
import { bindNumber } from './nodes/provisioning.ts';
import { createNodeRegistry } from './nodes/registry.ts';
import { COMMAND_LINE } from './operator/desk.ts';
import { createOperations } from './operator/operations.ts';
import { listenOperator } from './operator/operator-socket.ts';
import { GasWatch } from './payments/gas-watch.ts';
import { PaymentNetworks } from './payments/payment-networks.ts';
import { openTills, walletsOf } from './payments/tills.ts';
import { checkDatabase, type Database, type OpenDatabase, openDatabase } from './store/database/database.ts';
import { secretOf } from './store/database/secrets.ts';
import { deleteExpiredProofs } from './store/fleet/nodes.ts';
import { notePool } from './store/fleet/pool-openings.ts';
import { deleteOldTenures } from './store/fleet/sim-tenures.ts';
import { deleteOldWaitingFacts } from './store/fleet/waiting-facts.ts';
import { purgeOldMessages } from './store/messages/message-deletion.ts';
import { deleteOldMailed } from './store/messages/waitlist.ts';
import { deleteExpiredNonces } from './store/money/credentials.ts';
import { countOpenPayments, createPaymentLedger } from './store/money/payments.ts';
import { purgeLapsed } from './store/money/purge.ts';
import { STOCK_STATES, takeStock } from './store/operations/stock.ts';
import { LiveCalls } from './voice/live-calls.ts';
import { MediaTickets } from './voice/media-tickets.ts';
import { Presence } from './voice/presence.ts';

const HOUSEKEEPING_MS = 60_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A payer waits no longer for the node to confirm a number; it is bound as soon as the node answers. */
const PROVISION_WAIT_MS = 3_000;

export interface Service {
  /** Port of the API. */
  port: number;
  /** Of the metrics, where they are served. */
  metricsPort: number | undefined;
  /** Of the console, where it is served. */
  consoleUrl: string | undefined;
  /** Base URL that clients use, without a slash at its end. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts the control plane. Throws when the database or the port cannot be used, or a chain is not what is configured; a chain
 * that does not answer is waited for while texts and calls go on.
 */
export async function startService(
  config: Config,
  { log, clock = systemClock }: { log: Logger; clock?: Clock },
): Promise<Service> {
  const relayerKey = relayerKeyOf(config);
  const mail = mailSettingsOf(config);
  const channels = alertChannelsOf(config);
  const networks = await PaymentNetworks.open(paymentNetworksOf(config, relayerKey), {
    ...config,
    clock,
    log,
    relayer: relayerKey && privateKeyToAccount(relayerKey).address,
  });
  const createResampler = await loadResampler();
  const { db, bus, challengeSecret, connections, close } = await openStore(config, { clock, log });
  const metrics = new ServiceMetrics(log);
  let server: HttpServer;
  let metricsServer: MetricsServer | undefined;
  try {
    metricsServer = await listenMetrics(metrics, config);
    if (metricsServer !== undefined) metrics.watchProcess();
    server = await listenHttp({ ...config, isBehindProxy: config.proxyHops > 0, log });
  } catch (error) {
    await metricsServer?.stop();
    metrics.stop();
    await close();
    throw error;
  }
  const url = (config.publicUrl ?? `http://${config.host}:${server.port}`).replace(/\/+$/, '');
  const serviceDomain = config.serviceDomain ?? new URL(url).hostname;
  const ledger = createPaymentLedger(db);
  const fleet = new Fleet();
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
  const tickets = new MediaTickets(clock);
  const live = new LiveCalls({
    db,
    bus,
    fleet,
    clock,
    log,
    tickets,
    mediaBaseUrl: config.mediaBaseUrl ?? null,
    holdMs: config.streamHoldMs,
    unclaimedMs: config.unclaimedCallMs,
    queueFrames: Math.ceil(config.playoutQueueMs / FRAME_MS),
  });
  const streamUrl = (callId: string): string => `${url.replace(/^http/, 'ws')}/voice/stream/${callId}`;
  const presence = new Presence({ live, db, bus, clock, log, streamUrl });
  const claims = {
    waitMs: config.handoverWaitMs,
    admitsNew: config.admitNewSims,
    servedSince: new Date(clock.now()),
    isLinkedHere: (nodeId: string) => fleet.find(nodeId) !== undefined,
  };
  const nodeParts = { db, bus, fleet, clock, log, claims, calls: live, heartbeatMs: config.heartbeatMs };
  const provision = (number: string): Promise<void> =>
    withTimeout(
      clock,
      bindNumber(nodeParts, number),
      PROVISION_WAIT_MS,
      () => new Error('no answer yet'),
    ).catch((error: unknown) => log.warn({ err: error }, 'a number is not bound yet'));
  const sale = {
    resource: `${url}/subscribe`,
    description: 'A US mobile number for one year: SMS and voice',
    realm: serviceDomain,
    challengeSecret,
    get offers() {
      return networks.offers;
    },
  };
  const tills = openTills(networks.connections, { ...config, sale, ledger, clock, log, relayerKey });
  let isStopping = false;
  const inbox = createInbox({ db, bus, clock });
  const waits = new SmsWaits({ inbox, bus, clock, log, waitsPerToken: config.waitsPerToken });
  const router = createRouter({
    ...config,
    authenticate,
    addressLimit,
    inbox,
    waits,
    baseUrl: url,
    checks: {
      database: remembered(clock, () => checkDatabase(db)),
      serving: async () => {
        if (isStopping) throw new Error('the service stops');
      },
    },
    concerns: { payments: () => networks.trouble() },
    networks,
    files: discoveryFiles({ ...config, baseUrl: url, sale }),
    live,
    streamUrl,
    db,
    bus,
    clock,
    log,
    ledger,
    tills,
    provision,
    fleet,
    serviceDomain,
    sale,
    accounts: (chainId: number) => tills.get(chainId)?.chain.accounts,
  });
  void warnOfUnserved(db, tills, log);
  const upgrades = createNodeUpgrades(nodeParts);
  const app = createApp(router, { baseUrl: url, log, proxyHops: config.proxyHops });
  const clientOf = addressOf(app);
  const guard = new SocketGuard({
    authenticate,
    addressOf: clientOf,
    bus,
    clock,
    log,
    socketsPerToken: config.socketsPerToken,
  });
  const voiceUpgrades = createVoiceUpgrades({
    db,
    guard,
    live,
    tickets,
    presence,
    clock,
    log,
    createResampler,
  });
  metrics.watch({
    connections,
    stockStates: STOCK_STATES,
    stock: () => takeStock(db, new Date(clock.now())),
    waits: () => waits.size,
    calls: () => live.calls(),
    sockets: () => ({ node: upgrades.open(), ...voiceUpgrades.open() }),
  });
  const onUpgrade = routeUpgrades(
    { ...voiceUpgrades, nodeLink: upgrades.onUpgrade },
    { limit: linkLimit, addressOf: clientOf },
  );
  server.serve(app, onUpgrade);
  const operations = createOperations({ ...config, db, bus, clock, log, fleet, live });
  // A Postgres has room for an operator's commands beside the service.
  const operator =
    config.databaseUrl === undefined
      ? await listenOperator({
          folder: config.dataDir,
          url,
          log,
          registry: createNodeRegistry({ db, clock }),
          desk: operations.deskFor(COMMAND_LINE),
          backUp: (out) => writeBackup(db, out, new Date(clock.now())),
        })
      : undefined;

  const graceMs = config.graceDays * DAY_MS;
  const quarantineMs = config.quarantineDays * DAY_MS;
  const wallets = walletsOf(tills);
  const alerts = startAlerts({
    db,
    clock,
    log,
    channels,
    chainIds: wallets.keys(),
    options: config,
    closedChains: () => networks.closed(),
  });
  const gasWatch = new GasWatch({
    wallets,
    transfersMin: config.relayerTransfersMin,
    log,
    isOpen: (chainId) => networks.isOpen(chainId),
    onFunds: (chainId, funds) => {
      metrics.relayerFunds(chainId, funds);
      alerts.onFunds(chainId, funds);
    },
  });
  // Each by itself: an RPC that hangs holds up its own payments only.
  const everyMinute = (task: Task, work: () => Promise<void>) =>
    repeat({ clock, log, task, everyMs: HOUSEKEEPING_MS }, work);
  const reconciling = [...tills].map(([chainId, { settlement }]) =>
    everyMinute('reconcile', async () => {
      // What a chain says that is not the one configured must not end a payment.
      if (!networks.isOpen(chainId)) return;
      await settlement.reconcile(({ subscription }) => {
        bus.publish({ kind: 'subscription_changed', subscriptionId: subscription.id });
        void provision(subscription.number);
      });
    }),
  );
  const confirming = [...tills].map(([chainId, { finality }]) =>
    everyMinute('finality', async () => {
      if (networks.isOpen(chainId)) await finality.round();
    }),
  );
  networks.watch();
  const watching = everyMinute('gas', () => gasWatch.look());
  const mailer =
    mail && new WaitlistMailer({ ...mail, db, clock, log, serviceName: config.serviceName, baseUrl: url });
  const telling = everyMinute('waitlist', async () => {
    const { hasOpened, opening } = await notePool(db, new Date(clock.now()));
    if (hasOpened) log.info({ opening }, 'numbers are there again');
    await mailer?.round();
    await deleteOldMailed(db, new Date(clock.now()));
  });
  const cleaning = everyMinute('cleaning', async () => {
    await live.settleForgotten();
    const now = new Date(clock.now());
    await deleteExpiredNonces(db, now);
    await deleteExpiredProofs(db, now);
    await deleteOldTenures(db, now);
    await deleteOldWaitingFacts(db, now);
    if (config.messageDays !== undefined) {
      const messages = await purgeOldMessages(db, { keepMs: config.messageDays * DAY_MS, now });
      if (messages > 0) log.info({ messages }, 'deleted old messages');
    }
    for (const subscriptionId of await purgeLapsed(db, { graceMs, quarantineMs, now })) {
      bus.publish({ kind: 'subscription_changed', subscriptionId });
      log.info({ subscription: subscriptionId }, 'purged a subscription');
    }
  });

  const stop = async (): Promise<void> => {
    isStopping = true;
    networks.stop();
    waits.drain();
    mailer?.stop();
    await operations.stop();
    await Promise.all(
      [...reconciling, ...confirming, watching, telling, cleaning, alerts].map((work) => work.stop()),
    );
    await metricsServer?.stop();
    metrics.stop();
    await operator?.stop();
    // Before the port closes: nodes that look for another instance are told that this one is none.
    await upgrades.drain();
    await live.stop();
    await voiceUpgrades.stop();
    await server.stop();
    await waits.settled();
    await close();
  };
  const fleetConsole = await openConsole(config, {
    db,
    bus,
    clock,
    log,
    deskFor: (name) => operations.deskFor(name),
  }).catch((error: unknown) => stop().then(() => Promise.reject(error)));
  return {
    port: server.port,
    metricsPort: metricsServer?.port,
    consoleUrl: fleetConsole?.url,
    url,
    async stop() {
      await fleetConsole?.stop();
      await stop();
    },
  };
}

/** The database, and the bus of the instances on it. */
async function openStore(
  config: Config,
  { log, clock }: { log: Logger; clock: Clock },
): Promise<OpenDatabase & { bus: Bus; challengeSecret: string }> {
  const { databaseUrl: url } = config;
  const { db, connections, close } = await openDatabase(
    url === undefined
      ? { folder: join(config.dataDir, 'pglite') }
      : { url, connectionsMax: config.databaseConnections },
  );
  try {
    const challengeSecret = await secretOf(db, 'payment_challenge');
    if (url === undefined) return { db, bus: createLocalBus(), challengeSecret, connections, close };
    const bus = await openSharedBus({ url, db, clock, log });
    return { db, bus, challengeSecret, connections, close: () => bus.stop().then(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Nobody finishes the payments of a network that is not configured any more. */
async function warnOfUnserved(db: Database, tills: ReadonlyMap<number, unknown>, log: Logger): Promise<void> {
  try {
    for (const [chainId, count] of await countOpenPayments(db)) {
      if (!tills.has(chainId))
        log.error({ chainId, payments: count }, 'payments are open on a network that is not configured');
    }
  } catch (error) {
    log.warn({ err: error }, 'cannot count open payments');
  }
}

const listenMetrics = async (
  { registry }: ServiceMetrics,
  { metricsPort: port, metricsHost: host }: Pick<Config, 'metricsPort' | 'metricsHost'>,
): Promise<MetricsServer | undefined> =>
  port === undefined ? undefined : serveMetrics(registry, { host, port, option: 'METRICS_PORT' });
