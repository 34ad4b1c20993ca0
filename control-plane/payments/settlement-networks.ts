// Opens the parts that settle payments, for each network. None of them calls the chain before there is a payment.
import type { Hex } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { Admission } from './admission.ts';
import type { SettlementNetwork } from './checkout.ts';
import { Facilitator } from './facilitator.ts';
import { Finality } from './finality.ts';
import type { NetworkConnection } from './network-connection.ts';
import type { Nonces } from './nonces.ts';
import type { Sale } from './offer.ts';
import type { PaymentLedger } from './payment.ts';
import { Relayer } from './relayer.ts';
import { connectRelayerWallet, type RelayerWallet } from './relayer-wallet.ts';
import { Settlement } from './settlement.ts';
import type { Submitter } from './submitter.ts';

/** The shared parts of all networks. */
interface SharedParts {
  sale: Sale;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
  settlementWaitMs: number;
  relayerKey: Hex | undefined;
  noncesOf(chainId: number, address: string): Nonces;
}

/** The relayer's wallets, by chain id. */
export const walletsOf = (networks: ReadonlyMap<number, SettlementNetwork>): Map<number, RelayerWallet> =>
  new Map(
    [...networks].flatMap(([chainId, { wallet }]) => (wallet === undefined ? [] : [[chainId, wallet]])),
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
  const { relayerKey } = parts;
  const settleBy = (submitter: Submitter): SettlementNetwork => ({
    chain,
    settlement: new Settlement({ ...parts, chain, submitter }),
    finality: new Finality({ ...parts, chain, submitter }),
    admission: new Admission(parts.clock),
  });
  if (facilitatorUrl !== undefined) return settleBy(new Facilitator({ ...parts, url: facilitatorUrl }));
  if (relayerKey === undefined)
    throw new Error(`chain ${network.chainId} has neither a facilitator nor a relayer`);
  const wallet = connectRelayerWallet({ ...rpc, key: relayerKey });
  return {
    ...settleBy(
      new Relayer({ ...parts, chain, wallet, nonces: parts.noncesOf(network.chainId, wallet.address) }),
    ),
    wallet,
  };
}
