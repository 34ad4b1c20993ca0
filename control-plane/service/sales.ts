// The sale: its offers, their chains, and the settlement on each.
import type { Hex } from 'viem';
import type { Logger } from '#shared/log.ts';
import { Admission } from '../payments/admission.ts';
import { LocalNonces } from '../payments/nonces.ts';
import type { PaymentNetworks } from '../payments/payment-networks.ts';
import { openSettlementNetworks } from '../payments/settlement-networks.ts';
import type { Database } from '../store/database/database.ts';
import { countOpenPayments, createPaymentLedger } from '../store/money/payments.ts';
import { SharedNonces } from '../store/money/shared-nonces.ts';
import type { ServiceBase } from './store.ts';

export type Sales = ReturnType<typeof openSales>;

export function openSales(
  { config, db, clock, log, url }: ServiceBase,
  {
    networks,
    relayerKey,
    challengeSecret,
  }: { networks: PaymentNetworks; relayerKey: Hex | undefined; challengeSecret: string },
) {
  const serviceDomain = config.serviceDomain ?? new URL(url).hostname;
  const ledger = createPaymentLedger(db);
  const sale = {
    resource: `${url}/subscribe`,
    description: 'A US mobile number for one year: SMS and voice',
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
    relayerKey,
    noncesOf: (chainId, address) =>
      config.natsUrl === undefined
        ? new LocalNonces(clock)
        : new SharedNonces({ db, chainId, address, clock, log }),
  });
  void warnOfUnserved(db, settlementNetworks, log);
  return { networks, serviceDomain, ledger, admission: new Admission(clock), sale, settlementNetworks };
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
