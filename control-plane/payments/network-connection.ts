// One payment network. It is open while its RPC responds and its tokens match the configuration. Otherwise it is closed and tried again.
import {
  AbiDecodingDataSizeTooSmallError,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  InternalRpcError,
} from 'viem';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import { BackOff } from '#shared/back-off.ts';
import { type Clock, type Timer, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Random } from '#shared/random.ts';
import { type Chain, type ChainOptions, connectChain } from './chain/chain.ts';
import { type RpcOptions, shownRpc } from './chain/rpc.ts';
import type { Offer, PaymentAsset, PaymentNetwork } from './offer.ts';

/** The start of the service waits no longer for an RPC: texts and calls do not need one. */
const START_WAIT_MS = 5_000;

/** Pause between checks of an RPC, whether it responded or not. */
const CHECK_MS = 30_000;
const RECHECK_MS = 4_000;

/** This many missed checks in a row close a network. An RPC that loses every third call stays open. */
const MISSES_MAX = 3;

const RETRY = { firstMinMs: 500, firstMaxMs: 1_500, capMs: 60_000 };

/** The chain responds but does not match the configuration: waiting does not help. */
export class NetworkMisconfigured extends Error {
  override name = 'NetworkMisconfigured';
}

/** Why a network has no sales. */
export type ClosedReason = 'unreachable' | 'misconfigured';

export interface ConnectionParts extends Omit<ChainOptions, 'chainId' | 'rpcUrl' | 'clock'> {
  clock: Clock;
  random: Random;
  log: Logger;
}

type Attempt = { offers: Offer[] } | { reason: ClosedReason; error: unknown };

export class NetworkConnection {
  readonly network: PaymentNetwork;
  readonly rpc: RpcOptions;
  readonly chain: Chain;
  readonly #parts: ConnectionParts;
  readonly #backOff: BackOff;
  /** From the configuration alone, until the chain was read. */
  #offers: readonly Offer[];
  #closed: { reason: ClosedReason; since: Date } | undefined;
  #misses = 0;
  #timer: Timer | undefined;
  #isStopped = false;
  #onChange: () => void = () => undefined;

  constructor(network: PaymentNetwork, parts: ConnectionParts) {
    this.network = network;
    const { clock, rpcTimeoutMs, relayers = [], safeDepthBlocks } = parts;
    this.rpc = { ...network, rpcTimeoutMs };
    this.chain = connectChain({ ...this.rpc, relayers, safeDepthBlocks, clock });
    this.#parts = parts;
    this.#backOff = new BackOff(RETRY, parts.random);
    this.#offers = network.assets.flatMap((asset) => knownOffer(network, asset) ?? []);
  }

  /** The known offers, open or not. The same array until they change. */
  get offers(): readonly Offer[] {
    return this.#offers;
  }

  /** Why it is closed, and since when; undefined while it is open. */
  get closed(): { reason: ClosedReason; since: Date } | undefined {
    return this.#closed;
  }

  /** The first attempt, in limited time. Throws `NetworkMisconfigured`. If the RPC does not respond, the network stays closed. */
  async open(): Promise<void> {
    const attempt = await withTimeout(
      this.#parts.clock,
      this.#attempt(),
      START_WAIT_MS,
      () => new Error(`no response in ${START_WAIT_MS} ms`),
    ).catch((error: unknown): Attempt => ({ reason: 'unreachable', error }));
    if ('reason' in attempt && attempt.reason === 'misconfigured') throw attempt.error;
    this.#apply(attempt);
  }

  /** Keeps checking the RPC from now on. `onChange`: the network opened or closed. */
  watch(onChange: () => void): void {
    this.#onChange = onChange;
    this.#wait();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wait(): void {
    if (this.#isStopped) return;
    const whileOpen = this.#misses === 0 ? CHECK_MS : RECHECK_MS;
    const waitMs = this.#closed === undefined ? whileOpen : this.#backOff.next();
    this.#timer = this.#parts.clock.after(waitMs, () => void this.#round().then(() => this.#wait()));
  }

  async #round(): Promise<void> {
    if (this.#closed !== undefined) return this.#apply(await this.#attempt());
    try {
      await this.chain.head();
      this.#misses = 0;
    } catch (error) {
      this.#misses += 1;
      if (this.#misses >= MISSES_MAX) this.#apply({ reason: 'unreachable', error });
    }
  }

  async #attempt(): Promise<Attempt> {
    const offers: Offer[] = [];
    try {
      for (const asset of this.network.assets) offers.push(await readOffer(this.chain, this.network, asset));
      return { offers };
    } catch (error) {
      return { reason: error instanceof NetworkMisconfigured ? 'misconfigured' : 'unreachable', error };
    }
  }

  #apply(attempt: Attempt): void {
    if (this.#isStopped) return;
    const { clock, log } = this.#parts;
    const about = { chainId: this.network.chainId, rpc: shownRpc(this.network.rpcUrl) };
    const before = this.#closed;
    if ('offers' in attempt) {
      this.#backOff.reset();
      this.#misses = 0;
      this.#closed = undefined;
      this.#offers = attempt.offers;
      if (before !== undefined) log.info(about, 'payment network opened');
    } else {
      const { error, reason } = attempt;
      this.#closed = { reason, since: before?.since ?? new Date(clock.now()) };
      if (before?.reason === reason) return;
      if (reason === 'unreachable')
        log.warn({ ...about, err: error }, 'payment network closed: its RPC does not respond');
      else
        log.error(
          { ...about, err: error },
          'payment network closed: the chain does not match the configuration',
        );
    }
    this.#onChange();
  }
}

/** Throws an error that names the token; `NetworkMisconfigured` if the chain has responded. */
export async function readOffer(chain: Chain, network: PaymentNetwork, asset: PaymentAsset): Promise<Offer> {
  const about = `${asset.asset} on chain ${network.chainId} at ${shownRpc(network.rpcUrl)}`;
  const token = await chain.readAsset(asset.asset).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    const Failure = hasAnswered(cause) ? NetworkMisconfigured : Error;
    throw new Failure(`cannot take ${about}: ${reason}`, { cause });
  });
  for (const key of ['name', 'version'] as const) {
    if (asset[key] !== undefined && asset[key] !== token[key]) {
      const difference = `its ${key} is "${token[key]}", not "${asset[key]}"`;
      throw new NetworkMisconfigured(`cannot take ${about}: ${difference}`);
    }
  }
  return offerOf(network, asset, token);
}

/** The offer from the options, for a token that the options describe or that is well known. */
function knownOffer(network: PaymentNetwork, asset: PaymentAsset): Offer | undefined {
  const { usdc } = NETWORKS[network.chainId];
  const { name, version } = asset;
  if (asset.asset !== usdc.address || name === undefined || version === undefined) return undefined;
  return offerOf(network, asset, { name, version, decimals: usdc.decimals });
}

const offerOf = (
  { chainId }: PaymentNetwork,
  { asset, payTo, amountAtomic }: PaymentAsset,
  { name, version, decimals }: { name: string; version: string; decimals: number },
): Offer => ({
  chainId,
  asset,
  payTo,
  amountAtomic,
  assetName: name,
  assetVersion: version,
  assetDecimals: decimals,
});

/** False if the RPC did not respond, or responded that it cannot now: that proves nothing about the configuration. */
function hasAnswered(error: unknown): boolean {
  // Other errors than viem's come from comparing the values that were read.
  if (!(error instanceof BaseError)) return true;
  const is = (isSo: (cause: unknown) => boolean): boolean => error.walk(isSo) !== null;
  // Nodes return this error also for a state that they do not have yet.
  if (is((cause) => cause instanceof InternalRpcError)) return false;
  return is(
    (cause) =>
      cause instanceof ContractFunctionRevertedError ||
      cause instanceof ContractFunctionZeroDataError ||
      cause instanceof AbiDecodingDataSizeTooSmallError,
  );
}
