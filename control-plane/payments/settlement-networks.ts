// Opens the parts that settle payments, for each network. None of them calls the chain before there is a payment.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { paymentAdmission, signInAdmission } from './admission.ts';
import type { SettlementNetwork } from './checkout.ts';
import { Facilitator } from './facilitator.ts';
import { Finality } from './finality.ts';
import type { NetworkConnection } from './network-connection.ts';
import type { Nonces } from './nonces.ts';
import type { Sale } from './offer.ts';
import type { PaymentLedger } from './payment.ts';
import { Relayer } from './relayer.ts';
import { connectRelayerWallets, type RelayerKeys, type RelayerWallets } from './relayer-wallet.ts';
import { Settlement } from './settlement.ts';
import type { Submitter } from './submitter.ts';

/** The shared parts of all networks. */
interface SharedParts {
  sale: Sale;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
  settlementWaitMs: number;
  relayerKeys: RelayerKeys | undefined;
  noncesOf(chainId: number, address: string): Nonces;
}

/** The relayers' wallets, by chain id. */
export const walletsOf = (networks: ReadonlyMap<number, SettlementNetwork>): Map<number, RelayerWallets> =>
  new Map(
    [...networks].flatMap(([chainId, { wallets }]) => (wallets === undefined ? [] : [[chainId, wallets]])),
  );

/** The addresses of our relayers in lower case, by chain id. Chains of facilitators are left out. */
export const relayersOf = (networks: ReadonlyMap<number, SettlementNetwork>): Map<number, string[]> =>
  new Map(
    [...walletsOf(networks)].map(([chainId, { present, former }]) => [
      chainId,
      [present, ...former].map(({ address }) => address.toLowerCase()),
    ]),
  );

/** The settlement parts of all networks, by chain id. Throws if a network has neither a facilitator nor a relayer. */
export function openSettlementNetworks(
  connections: readonly NetworkConnection[],
  parts: SharedParts,
): Map<number, SettlementNetwork> {
  return new Map(
    connections.map((connection) => [connection.network.chainId, openSettlementNetwork(connection, parts)]),
  );
}

function openSettlementNetwork(
  { network, rpc, chain }: NetworkConnection,
  parts: SharedParts,
): SettlementNetwork {
  const { facilitatorUrl } = network;
  const { relayerKeys } = parts;
  const settleBy = (submitter: Submitter): SettlementNetwork => ({
    chain,
    settlement: new Settlement({ ...parts, chain, submitter }),
    finality: new Finality({ ...parts, chain, submitter }),
    admissions: { key: paymentAdmission(parts.clock), account: paymentAdmission(parts.clock) },
    signIns: signInAdmission(parts.clock),
  });
  if (facilitatorUrl !== undefined) return settleBy(new Facilitator({ ...parts, url: facilitatorUrl }));
  if (relayerKeys === undefined)
    throw new Error(`chain ${network.chainId} has neither a facilitator nor a relayer`);
  const wallets = connectRelayerWallets(rpc, relayerKeys);
  const nonces = parts.noncesOf(network.chainId, wallets.present.address);
  return { ...settleBy(new Relayer({ ...parts, chain, wallets, nonces })), wallets };
}
