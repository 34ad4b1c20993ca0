// What settles payments, for each network. None of it asks the chain before there is a payment.
import type { Hex } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Till } from './checkout.ts';
import { Facilitator } from './facilitator.ts';
import { Finality } from './finality.ts';
import type { NetworkConnection } from './network-connection.ts';
import type { Sale } from './offer.ts';
import type { PaymentLedger } from './payment.ts';
import { Relayer } from './relayer.ts';
import { connectRelayerWallet, type RelayerWallet } from './relayer-wallet.ts';
import { Settlement } from './settlement.ts';
import type { Submitter } from './submitter.ts';

/** What tills work on. */
export interface TillParts {
  sale: Sale;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
  settlementWaitMs: number;
  relayerKey: Hex | undefined;
}

/** The relayer's wallets, by chain id. */
export const walletsOf = (tills: ReadonlyMap<number, Till>): Map<number, RelayerWallet> =>
  new Map([...tills].flatMap(([chainId, { wallet }]) => (wallet === undefined ? [] : [[chainId, wallet]])));

/** The tills of all networks, by chain id. Throws when one has neither a facilitator nor a relayer. */
export function openTills(connections: readonly NetworkConnection[], parts: TillParts): Map<number, Till> {
  return new Map(connections.map((connection) => [connection.network.chainId, openTill(connection, parts)]));
}

function openTill({ network, rpc, chain }: NetworkConnection, parts: TillParts): Till {
  const { facilitatorUrl } = network;
  const { relayerKey } = parts;
  const till = (submitter: Submitter): Till => ({
    chain,
    settlement: new Settlement({ ...parts, chain, submitter }),
    finality: new Finality({ ...parts, chain, submitter }),
  });
  if (facilitatorUrl !== undefined) return till(new Facilitator({ ...parts, url: facilitatorUrl }));
  if (relayerKey === undefined) throw new Error(`nobody puts transfers on chain ${network.chainId}`);
  const wallet = connectRelayerWallet({ ...rpc, key: relayerKey });
  return { ...till(new Relayer({ ...parts, chain, wallet })), wallet };
}
