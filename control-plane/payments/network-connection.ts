// One payment network: open while its RPC answers and its tokens are what is configured, closed else, and tried again.
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
import { type Chain, type ChainOptions, connectChain } from './chain/chain.ts';
import { type RpcOptions, shownRpc } from './chain/rpc.ts';
import type { Offer, PaymentAsset, PaymentNetwork } from './offer.ts';

/** The start of the service waits no longer for an RPC: texts and calls need none. */
const START_WAIT_MS = 5_000;

/** How often an RPC that works is asked for its newest block; and again, when it did not answer. */
const CHECK_MS = 30_000;
const RECHECK_MS = 4_000;

/** So many checks in a row without an answer close a network: an RPC that loses every third call is none that is away. */
const MISSES_MAX = 3;

const RETRY = { firstMinMs: 500, firstMaxMs: 1_500, capMs: 60_000 };

/** The chain answers, and is not what is configured: waiting does not help. */
export class NetworkMisconfigured extends Error {
  override name = 'NetworkMisconfigured';
}

/** Why nothing is sold on a network. */
export type ClosedReason = 'unreachable' | 'misconfigured';

export interface ConnectionParts extends Omit<ChainOptions, 'chainId' | 'rpcUrl'> {
  clock: Clock;
  log: Logger;
}

type Attempt = { offers: Offer[] } | { reason: ClosedReason; error: unknown };

export class NetworkConnection {
  readonly network: PaymentNetwork;
  readonly rpc: RpcOptions;
  readonly chain: Chain;
  readonly #parts: ConnectionParts;
  readonly #backOff = new BackOff(RETRY);
  /** What is known without the chain, until it was read. */
  #offers: readonly Offer[];
  #closed: { reason: ClosedReason; since: Date } | undefined;
  #misses = 0;
  #timer: Timer | undefined;
  #isStopped = false;
  #onChange: () => void = () => undefined;

  constructor(network: PaymentNetwork, parts: ConnectionParts) {
    this.network = network;
    const { rpcTimeoutMs, relayer, safeDepthBlocks } = parts;
    this.rpc = { ...network, rpcTimeoutMs };
    this.chain = connectChain({ ...this.rpc, relayer, safeDepthBlocks });
    this.#parts = parts;
    this.#offers = network.assets.flatMap((asset) => knownOffer(network, asset) ?? []);
  }

  /** Its offers as far as they are known, whether it is open or not. The same array until they change. */
  get offers(): readonly Offer[] {
    return this.#offers;
  }

  /** Why it is closed, and since when; undefined while it is open. */
  get closed(): { reason: ClosedReason; since: Date } | undefined {
    return this.#closed;
  }

  /** The first attempt, in bounded time. Throws `NetworkMisconfigured`; an RPC that does not answer leaves it closed. */
  async open(): Promise<void> {
    const attempt = await withTimeout(
      this.#parts.clock,
      this.#attempt(),
      START_WAIT_MS,
      () => new Error(`no answer in ${START_WAIT_MS} ms`),
    ).catch((error: unknown): Attempt => ({ reason: 'unreachable', error }));
    if ('reason' in attempt && attempt.reason === 'misconfigured') throw attempt.error;
    this.#settle(attempt);
  }

  /** From now on it follows its RPC. `onChange`: it opened or closed. */
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
    if (this.#closed !== undefined) return this.#settle(await this.#attempt());
    try {
      await this.chain.head();
      this.#misses = 0;
    } catch (error) {
      this.#misses += 1;
      if (this.#misses >= MISSES_MAX) this.#settle({ reason: 'unreachable', error });
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

  #settle(attempt: Attempt): void {
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
      if (reason === 'unreachable') log.warn({ ...about, err: error }, 'payment network closed: no answer');
      else log.error({ ...about, err: error }, 'payment network closed: not what is configured');
    }
    this.#onChange();
  }
}

/** Throws, with a line that names the token; `NetworkMisconfigured` where the chain has answered. */
async function readOffer(chain: Chain, network: PaymentNetwork, asset: PaymentAsset): Promise<Offer> {
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

/** What stands in the options, of a token that is named there or that everybody knows. */
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

/** False where the RPC did not answer, or answered that it cannot now; that says nothing of what is configured. */
function hasAnswered(error: unknown): boolean {
  // What is not of viem is our own comparison of what was read.
  if (!(error instanceof BaseError)) return true;
  const is = (isSo: (cause: unknown) => boolean): boolean => error.walk(isSo) !== null;
  // Nodes say so of a state that they do not have yet, too.
  if (is((cause) => cause instanceof InternalRpcError)) return false;
  return is(
    (cause) =>
      cause instanceof ContractFunctionRevertedError ||
      cause instanceof ContractFunctionZeroDataError ||
      cause instanceof AbiDecodingDataSizeTooSmallError,
  );
}
