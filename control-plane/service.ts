// The composition root of the control plane: builds every part, wires them, starts and stops them in order.
import { join } from 'node:path';
import { type Clock, systemClock, type Timer, withTimeout } from '#shared/clock.ts';
import { LINK_CLOSE } from '#shared/link/frame.ts';
import type { Logger } from '#shared/log.ts';
import { createLocalBus } from './bus/bus.ts';
import { type Config, relayerKeyOf } from './config.ts';
import { createApp } from './http/app.ts';
import { createNodeUpgrades } from './http/node-upgrade.ts';
import { createRouter } from './http/routes.ts';
import { type HttpServer, listenHttp } from './http/server.ts';
import { Fleet } from './nodes/fleet.ts';
import { bindNumber } from './nodes/provisioning.ts';
import { type Chain, connectChain } from './payments/chain.ts';
import { NETWORKS } from './payments/offer.ts';
import { Settlement } from './payments/settlement.ts';
import { deleteExpiredNonces } from './store/credentials.ts';
import { openDatabase } from './store/database.ts';
import { createPaymentLedger } from './store/payments.ts';

const HOUSEKEEPING_MS = 60_000;

/** A payer waits no longer for the node to confirm a number; it is bound as soon as the node answers. */
const PROVISION_WAIT_MS = 3_000;

/** Nodes that are told of the stop get this long to close their links. */
const LINKS_CLOSE_TIMEOUT_MS = 3_000;

export interface Service {
  /** Port of the API. */
  port: number;
  /** Base URL that clients use, without a slash at its end. */
  url: string;
  stop(): Promise<void>;
}

/** Starts the control plane. Throws when the database, the chain or the port cannot be used. */
export async function startService(
  config: Config,
  { log, clock = systemClock }: { log: Logger; clock?: Clock },
): Promise<Service> {
  const chain = connectChain({ ...config, relayerKey: relayerKeyOf(config) });
  const asset = await describeAsset(config, chain);
  const { db, close } = await openDatabase(
    config.databaseUrl === undefined
      ? { folder: join(config.dataDir, 'pglite') }
      : { url: config.databaseUrl, connectionsMax: config.databaseConnections },
  );
  let server: HttpServer;
  try {
    server = await listenHttp({ ...config, log });
  } catch (error) {
    await close();
    throw error;
  }
  const url = (config.publicUrl ?? `http://${config.host}:${server.port}`).replace(/\/+$/, '');
  const ledger = createPaymentLedger(db);
  const settlement = new Settlement({ ...config, chain, ledger, clock, log });
  const fleet = new Fleet();
  const bus = createLocalBus();
  const nodeParts = { db, bus, fleet, clock, log, heartbeatMs: config.heartbeatMs };
  const provision = (number: string): Promise<void> =>
    withTimeout(
      clock,
      bindNumber(nodeParts, number),
      PROVISION_WAIT_MS,
      () => new Error('no answer yet'),
    ).catch((error: unknown) => log.warn({ err: error }, 'a number is not bound yet'));
  const router = createRouter({
    ...config,
    db,
    bus,
    clock,
    log,
    chain,
    ledger,
    settlement,
    provision,
    fleet,
    serviceDomain: config.serviceDomain ?? new URL(url).hostname,
    offer: { ...asset, payTo: config.payTo, amountAtomic: config.priceAtomic, resource: `${url}/subscribe` },
  });
  const upgrades = createNodeUpgrades(nodeParts, config.linkSecret);
  server.serve(createApp(router, log), upgrades.onUpgrade);

  const housekeeping = repeat(clock, HOUSEKEEPING_MS, log, async () => {
    await settlement.reconcile(({ subscription }) => {
      bus.publish({ kind: 'subscription_changed', subscriptionId: subscription.id });
      void provision(subscription.number);
    });
    await deleteExpiredNonces(db, new Date(clock.now()));
  });

  return {
    port: server.port,
    url,
    async stop() {
      await housekeeping.stop();
      fleet.closeAll(LINK_CLOSE.goingAway, 'restart');
      const links = withTimeout(
        clock,
        upgrades.settled(),
        LINKS_CLOSE_TIMEOUT_MS,
        () => new Error('links hang'),
      );
      await Promise.allSettled([links, server.stop()]);
      await close();
    },
  };
}

/** What the token says of itself: payers sign with its name and version. */
async function describeAsset(config: Config, chain: Chain) {
  const asset = config.asset ?? NETWORKS[config.chainId].usdc;
  const domain = await chain.readAssetDomain(asset).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new Error(`cannot read ${asset} on chain ${config.chainId} at ${config.rpcUrl}: ${reason}`, {
      cause,
    });
  });
  return { chainId: config.chainId, asset, assetName: domain.name, assetVersion: domain.version };
}

/** Runs `work` now and then `everyMs` after each end; `stop` waits for the run that is under way. */
function repeat(
  clock: Clock,
  everyMs: number,
  log: Logger,
  work: () => Promise<void>,
): { stop(): Promise<void> } {
  let isStopped = false;
  let timer: Timer | undefined;
  let run: Promise<void>;
  const once = (): void => {
    run = work()
      .catch((error: unknown) => log.error({ err: error }, 'housekeeping failed'))
      .then(() => {
        if (!isStopped) timer = clock.after(everyMs, once);
      });
  };
  once();
  return {
    async stop() {
      isStopped = true;
      timer?.cancel();
      await run;
    },
  };
}
