// The composition root of the control plane: builds every part, wires them, starts and stops them in order.
import { type Clock, systemClock, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type Random, systemRandom } from '#shared/random.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import { alertChannelsOf } from '../alerts/alert-channels.ts';
import { writeBackup } from '../backup/backup-writer.ts';
import { checkBusOptions } from '../config/bus-options.ts';
import type { Config } from '../config/config.ts';
import { mailSettingsOf } from '../config/mail-options.ts';
import { paymentNetworksOf } from '../config/payments-file.ts';
import { relayerKeysOf } from '../config/relayer-options.ts';
import { openConsole } from '../console/console.ts';
import type { ServiceView } from '../metrics/service-metrics.ts';
import { createOperations, type Operations } from '../operator/operations.ts';
import { COMMAND_LINE } from '../operator/operator-api.ts';
import { listenForCommands } from '../operator/operator-socket.ts';
import { PaymentNetworks } from '../payments/payment-networks.ts';
import { relayerAddresses } from '../payments/relayer-wallet.ts';
import { PinVault, pinKeyFileOf } from '../pins/pin-vault.ts';
import { receiptKeyFileOf } from '../receipts/receipt-key.ts';
import { ReceiptSigner } from '../receipts/receipt-signer.ts';
import type { Migrations } from '../store/database/schema-versions.ts';
import { readMeasuredNodes } from '../store/operations/fleet-readings.ts';
import { INVENTORY_STATES, takeInventory } from '../store/operations/inventory.ts';
import { serveApi } from './api.ts';
import { openPorts, urlOf } from './ports.ts';
import { startRounds } from './rounds.ts';
import { openSales } from './sales.ts';
import { logStart } from './start-log.ts';
import { openStore, type ServiceBase, type Store } from './store.ts';
import { createTelephony } from './telephony.ts';
import { startWebhooks } from './webhooks.ts';

export interface Service {
  /** Port of the API. */
  port: number;
  /** Port of the metrics, if they are served. */
  metricsPort: number | undefined;
  /** URL of the console, if it is served. */
  consoleUrl: string | undefined;
  /** Base URL for clients, without a trailing slash. */
  url: string;
  /** Rejects when the service cannot go on. */
  failed: Promise<never> | undefined;
  stop(): Promise<void>;
}

/** A supervisor waits ten seconds for a stop. Mails and webhooks under way get four of them, and most other work ends at once. */
const STOP_MS = { beforeNodes: 1_500, all: 5_500, afterNodes: 500 };

interface ServiceParts {
  log: Logger;
  clock?: Clock;
  random?: Random;
  /** Migrations of another version of the schema. */
  migrations?: Migrations;
}

/**
 * Starts the control plane. Throws when the database or the port cannot be used, or a chain does not match the configuration. A chain that
 * does not respond is retried while texts and calls work.
 */
export async function startService(config: Config, parts: ServiceParts): Promise<Service> {
  const { log, clock = systemClock, random = systemRandom, migrations } = parts;
  checkBusOptions(config);
  const relayerKeys = relayerKeysOf(config);
  const [mail, channels] = [mailSettingsOf(config), alertChannelsOf(config, clock)];
  const relayers = relayerKeys && relayerAddresses(relayerKeys);
  const chains = { ...config, clock, random, log, ...(relayers && { relayers }) };
  const networks = await PaymentNetworks.open(paymentNetworksOf(config, relayerKeys), chains);
  const createResampler = await loadResampler();
  const store = await openStore(config, { clock, log }, migrations);
  const { db, bus, challengeSecret, connections, databaseId, failed, close } = store;
  const ports = await openPorts(config, { clock, log }).catch((error: unknown) =>
    close().then(() => Promise.reject(error)),
  );
  const { api: server, metrics, metricsPort } = ports;
  const url = urlOf(config, server.port);
  const base = { config, db, bus, clock, random, log, url, pins: new PinVault(pinKeyFileOf(config)) };
  const telephony = createTelephony(base);
  const sales = openSales(base, { networks, relayerKeys, challengeSecret });
  const webhooks = startWebhooks(base, telephony);
  const receipts = new ReceiptSigner({ db, clock, url, file: receiptKeyFileOf(config) });
  const api = serveApi(base, { sales, telephony, webhooks, receipts, createResampler, server });
  metrics.watch(viewOf({ db, clock, connections }, { api, telephony, webhooks }));
  const operations = createOperations({ ...config, ...base, ...telephony });
  const commands = await serveCommands({ ...base, databaseId }, operations);
  const rounds = startRounds(base, { sales, telephony, metrics, channels, mail });
  const stop = async (): Promise<void> => {
    api.close();
    const work = Promise.all([operations.stop(), rounds.stop(), webhooks.stop()]);
    await whileEnding(base, work, async () => {
      await ports.stopMetrics();
      await commands.stop();
      await api.stop();
    });
    await close();
  };
  const { operatorFor } = operations;
  const console = await openConsole(config, { db, bus, clock, log, operatorFor }).catch((error: unknown) =>
    stop().then(() => Promise.reject(error)),
  );
  const listening = { port: server.port, metricsPort, consoleUrl: console?.url };
  void logStart(base, { sales, listening });
  return {
    port: server.port,
    metricsPort,
    consoleUrl: console?.url,
    url,
    failed,
    stop: async () => {
      await console?.stop();
      await stop();
    },
  };
}

/**
 * Stops the rest while work ends. It may wait for a node or an RPC that does not answer: the other nodes must hear of the stop all the same.
 */
async function whileEnding(
  { clock, log }: Pick<ServiceBase, 'clock' | 'log'>,
  work: Promise<unknown>,
  stopRest: () => Promise<void>,
): Promise<void> {
  const ended = (withinMs: number): Promise<unknown> =>
    withTimeout(clock, work, withinMs, () => new Error('not in time'));
  const until = clock.now() + STOP_MS.all;
  await ended(STOP_MS.beforeNodes).catch(() => undefined);
  await stopRest();
  await ended(Math.max(STOP_MS.afterNodes, until - clock.now())).catch((err: unknown) =>
    log.warn({ err }, 'a round is still under way at the stop'),
  );
}

/** The state of the running parts, read by the metrics at each scrape. */
function viewOf(
  { db, clock, connections }: Pick<ServiceBase, 'db' | 'clock'> & Pick<Store, 'connections'>,
  parts: {
    api: ReturnType<typeof serveApi>;
    telephony: ReturnType<typeof createTelephony>;
    webhooks: ReturnType<typeof startWebhooks>;
  },
): ServiceView {
  const { api, telephony, webhooks } = parts;
  return {
    connections,
    inventoryStates: INVENTORY_STATES,
    inventory: () => takeInventory(db, new Date(clock.now())),
    fleet: () => readMeasuredNodes(db, new Date(clock.now())),
    waits: api.waits,
    webhooks: () => webhooks.open,
    calls: () => telephony.live.customersCalls(),
    sockets: api.sockets,
  };
}

/** The socket for commands on this host. A second instance with the same data folder leaves it to the first. */
async function serveCommands(
  { config, databaseId, db, clock, log }: ServiceBase & Pick<Store, 'databaseId'>,
  operations: Operations,
) {
  const listening = listenForCommands({
    folder: config.dataDir,
    databaseId,
    log,
    operator: operations.operatorFor(COMMAND_LINE),
    backUp: (out) => writeBackup(db, out, clock),
  });
  if (databaseId === undefined) return listening;
  return listening.catch((error: unknown) => {
    log.warn({ err: error }, 'operator commands cannot reach this instance');
    return { stop: async () => undefined };
  });
}
