// The composition root of the control plane: builds every part, wires them, starts and stops them in order.
import { privateKeyToAccount } from 'viem/accounts';
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import { alertChannelsOf } from '../alerts/alert-channels.ts';
import { writeBackup } from '../backup/backup-writer.ts';
import { checkBusOptions } from '../config/bus-options.ts';
import { type Config, paymentNetworksOf, relayerKeyOf } from '../config/config.ts';
import { mailSettingsOf } from '../config/mail-options.ts';
import { openConsole } from '../console/console.ts';
import { createOperations, type Operations } from '../operator/operations.ts';
import { COMMAND_LINE } from '../operator/operator-api.ts';
import { listenForCommands } from '../operator/operator-socket.ts';
import { PaymentNetworks } from '../payments/payment-networks.ts';
import type { Migrations } from '../store/database/schema-versions.ts';
import { INVENTORY_STATES, takeInventory } from '../store/operations/inventory.ts';
import { serveApi } from './api.ts';
import { openPorts, urlOf } from './ports.ts';
import { startRounds } from './rounds.ts';
import { openSales } from './sales.ts';
import { logStart } from './start-log.ts';
import { openStore, type ServiceBase, type Store } from './store.ts';
import { createTelephony } from './telephony.ts';

export interface Service {
  /** Port of the API. */
  port: number;
  /** Port of the metrics, if they are served. */
  metricsPort: number | undefined;
  /** URL of the console, if it is served. */
  consoleUrl: string | undefined;
  /** ServiceBase URL for clients, without a trailing slash. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts the control plane. Throws when the database or the port cannot be used, or a chain does not match the configuration. A chain that
 * does not respond is retried while texts and calls work. `migrations`: those of another version of the schema.
 */
export async function startService(
  config: Config,
  { log, clock = systemClock, migrations }: { log: Logger; clock?: Clock; migrations?: Migrations },
): Promise<Service> {
  checkBusOptions(config);
  const relayerKey = relayerKeyOf(config);
  const [mail, channels] = [mailSettingsOf(config), alertChannelsOf(config)];
  const relayer = relayerKey && privateKeyToAccount(relayerKey).address;
  const chains = { ...config, clock, log, relayer };
  const networks = await PaymentNetworks.open(paymentNetworksOf(config, relayerKey), chains);
  const createResampler = await loadResampler();
  const { db, bus, challengeSecret, connections, databaseId, close } = await openStore(
    config,
    { clock, log },
    migrations,
  );
  const ports = await openPorts(config, log).catch((error: unknown) =>
    close().then(() => Promise.reject(error)),
  );
  const { api: server, metrics, metricsPort } = ports;
  const url = urlOf(config, server.port);
  const base = { config, db, bus, clock, log, url };
  const telephony = createTelephony(base);
  const sales = openSales(base, { networks, relayerKey, challengeSecret });
  const api = serveApi(base, { sales, telephony, createResampler, server });
  metrics.watch({
    connections,
    inventoryStates: INVENTORY_STATES,
    inventory: () => takeInventory(db, new Date(clock.now())),
    waits: api.waits,
    calls: () => telephony.live.calls(),
    sockets: api.sockets,
  });
  const operations = createOperations({ ...config, ...base, ...telephony });
  const commands = await serveCommands({ ...base, databaseId }, operations);
  const rounds = startRounds(base, { sales, telephony, metrics, channels, mail });
  const stop = async (): Promise<void> => {
    api.close();
    await operations.stop();
    await rounds.stop();
    await ports.stopMetrics();
    await commands.stop();
    await api.stop();
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
    stop: async () => {
      await console?.stop();
      await stop();
    },
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
    backUp: (out) => writeBackup(db, out, new Date(clock.now())),
  });
  if (databaseId === undefined) return listening;
  return listening.catch((error: unknown) => {
    log.warn({ err: error }, 'operator commands cannot reach this instance');
    return { stop: async () => undefined };
  });
}
