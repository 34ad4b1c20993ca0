// The networks that money may come in on, connected: what is offered there, and what settles it.
import type { Hex } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type Chain, connectChain } from './chain.ts';
import type { Till } from './checkout.ts';
import { Facilitator } from './facilitator.ts';
import type { Offer, PaymentAsset, PaymentNetwork, Sale } from './offer.ts';
import type { PaymentLedger } from './payment.ts';
import { Relayer } from './relayer.ts';
import { connectRelayerWallet, type RelayerWallet } from './relayer-wallet.ts';
import { type RpcOptions, shownRpc } from './rpc.ts';
import { Settlement } from './settlement.ts';
import type { Submitter } from './submitter.ts';

/** A network whose tokens have been read. */
export interface ConnectedNetwork {
  network: PaymentNetwork;
  rpc: RpcOptions;
  chain: Chain;
  offers: Offer[];
}

/**
 * Reads every token from its chain. Throws, with a line that names it, when one cannot be read, calls itself something
 * else than configured, or has another domain separator than its name and version make.
 */
export async function connectNetwork(
  network: PaymentNetwork,
  rpcTimeoutMs: number,
): Promise<ConnectedNetwork> {
  const rpc = { ...network, rpcTimeoutMs };
  const chain = connectChain(rpc);
  const offers: Offer[] = [];
  for (const asset of network.assets) offers.push(await offerOf(chain, network, asset));
  return { network, rpc, chain, offers };
}

async function offerOf(chain: Chain, network: PaymentNetwork, asset: PaymentAsset): Promise<Offer> {
  const { chainId } = network;
  const about = `${asset.asset} on chain ${chainId} at ${shownRpc(network.rpcUrl)}`;
  const token = await chain.readAsset(asset.asset).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new Error(`cannot take ${about}: ${reason}`, { cause });
  });
  for (const key of ['name', 'version'] as const) {
    if (asset[key] !== undefined && asset[key] !== token[key]) {
      throw new Error(`cannot take ${about}: its ${key} is "${token[key]}", not "${asset[key]}"`);
    }
  }
  return {
    ...{ chainId, asset: asset.asset, payTo: asset.payTo, amountAtomic: asset.amountAtomic },
    ...{ assetName: token.name, assetVersion: token.version, assetDecimals: token.decimals },
  };
}

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
export function openTills(networks: readonly ConnectedNetwork[], parts: TillParts): Map<number, Till> {
  return new Map(networks.map((connected) => [connected.network.chainId, openTill(connected, parts)]));
}

function openTill({ network, rpc, chain }: ConnectedNetwork, parts: TillParts): Till {
  const { facilitatorUrl } = network;
  const { relayerKey } = parts;
  const till = (submitter: Submitter): Till => ({
    chain,
    settlement: new Settlement({ ...parts, chain, submitter }),
  });
  if (facilitatorUrl !== undefined) return till(new Facilitator({ ...parts, url: facilitatorUrl }));
  if (relayerKey === undefined) throw new Error(`nobody puts transfers on chain ${network.chainId}`);
  const wallet = connectRelayerWallet({ ...rpc, key: relayerKey });
  return { ...till(new Relayer({ ...parts, chain, wallet })), wallet };
}
