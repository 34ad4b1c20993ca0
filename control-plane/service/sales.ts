// The sale: its offers, their chains, and the settlement on each.
import type { Logger } from '#shared/log.ts';
import { maskedWallet } from '../domain/shown-value.ts';
import { paymentAdmission } from '../payments/admission.ts';
import { LocalNonces } from '../payments/nonces.ts';
import type { PaymentNetworks } from '../payments/payment-networks.ts';
import type { RelayerKeys } from '../payments/relayer-wallet.ts';
import { openSettlementNetworks, relayersOf } from '../payments/settlement-networks.ts';
import type { Database } from '../store/database/database.ts';
import { countOpenPayments, createPaymentLedger } from '../store/money/payments.ts';
import { countRelayed } from '../store/money/relayed-payments.ts';
import { SharedNonces } from '../store/money/shared-nonces.ts';
import type { ServiceBase } from './store.ts';

export type Sales = ReturnType<typeof openSales>;

export function openSales(
  { config, db, clock, log, url }: ServiceBase,
  {
    networks,
    relayerKeys,
    challengeSecret,
  }: { networks: PaymentNetworks; relayerKeys: RelayerKeys | undefined; challengeSecret: string },
) {
  const serviceDomain = config.serviceDomain ?? new URL(url).hostname;
  const ledger = createPaymentLedger(db);
  const sale = {
    resource: `${url}/subscribe`,
    description: 'A US mobile number for one year: SMS and voice',
    serviceName: config.serviceName,
    realm: serviceDomain,
    challengeSecret,
    get offers() {
      return networks.offers;
    },
  };
  const settlementNetworks = openSettlementNetworks(networks.connections, {
    ...config,
    sale,
    ledger,
    clock,
    log,
    relayerKeys,
    noncesOf: (chainId, address) =>
      config.natsUrl === undefined
        ? new LocalNonces(clock)
        : new SharedNonces({ db, chainId, address, clock, log }),
  });
  void warnOfUnserved(db, settlementNetworks, log);
  void warnOfKeyless(db, relayersOf(settlementNetworks), log);
  return { networks, serviceDomain, ledger, admission: paymentAdmission(clock), sale, settlementNetworks };
}

/** Logs open payments of a network that is no longer configured: no process finishes them. */
async function warnOfUnserved(
  db: Database,
  settlementNetworks: ReadonlyMap<number, unknown>,
  log: Logger,
): Promise<void> {
  try {
    for (const [chainId, count] of await countOpenPayments(db)) {
      if (!settlementNetworks.has(chainId))
        log.error({ chainId, payments: count }, 'open payments on a network that is no longer configured');
    }
  } catch (error) {
    log.warn({ err: error }, 'counting open payments failed');
  }
}

/** Logs payments in flight that a relayer sent whose key is missing: their fees cannot be raised. */
async function warnOfKeyless(
  db: Database,
  relayers: ReadonlyMap<number, readonly string[]>,
  log: Logger,
): Promise<void> {
  try {
    for (const { chainId, inFlight, sender } of await countRelayed(db)) {
      if (inFlight > 0 && relayers.get(chainId)?.includes(sender) === false)
        log.error(
          { chainId, payments: inFlight, relayer: maskedWallet(sender) },
          'payments in flight of a relayer without a key here: set RELAYER_FORMER_KEY_FILE',
        );
    }
  } catch (error) {
    log.warn({ err: error }, 'counting the payments of former relayers failed');
  }
}
