// The chain as settlement needs it: simulate, broadcast, look up.
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  domainSeparator,
  getContractError,
  type Hex,
  isAddressEqual,
  isErc6492Signature,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from 'viem';
import { accountSignatures } from './account-signature.ts';
import { SAFE_DEPTH_BLOCKS } from './offer.ts';
import type { AuthorizedTransfer, TransferAuthorization } from './payment.ts';
import { isUnreachable, type RpcOptions, rpcOf, searchBack } from './rpc.ts';
import { isPaid, resultIn, TOKEN_ABI, type TransferResult } from './token-events.ts';
import { transferCall } from './transfer-call.ts';

const RECEIPT_POLL_MS = 200;

/** Room above the estimate: the state may change between estimate and block. */
const GAS_MARGIN_PERCENT = 130n;

/** How far back a used authorization is searched: an authorization lives a day at most (2 s blocks). */
const LOG_DEPTH_BLOCKS = 45_000n;

/** In a block so deep the log shows what the state shows, however far a node's log lags behind. */
const LOG_LAG_BLOCKS = 64n;

/** A call that is ready to be signed. */
export interface PricedCall {
  to: Address;
  data: Hex;
  /** What it may use, the limit of the transaction. */
  gas: bigint;
}

export type Simulation =
  /** `runsCode`: the transfer runs code of the payer's. */
  | { kind: 'ok'; call: PricedCall; runsCode: boolean }
  /** It needs more gas than a transfer may. */
  | { kind: 'too_costly' }
  /** `isUsed`: used or cancelled already, in a block or in one to come. */
  | { kind: 'reverted'; reason: string; isUsed: boolean };
/** What became of an authorization that can move no more money. */
export type Use =
  /** `isOurs`: our relayer sent it, perhaps in the place of an earlier transaction of its own. */
  | { kind: 'paid'; transaction: Hex; blockNumber: bigint; isOurs: boolean }
  /** Used for another transfer of its payer, or cancelled. */
  | { kind: 'spent'; transaction: Hex; blockNumber: bigint };

export interface ChainOptions extends RpcOptions {
  /** Sends our transactions, where we do. */
  relayer?: Address | undefined;
  /** So many blocks on top of one it stays, where the RPC has no `safe` block. */
  safeDepthBlocks?: number | undefined;
}

export type Chain = ReturnType<typeof connectChain>;

/** Every method rejects when the RPC cannot be reached: that says nothing about the payment. */
export function connectChain(options: ChainOptions) {
  const publicClient = createPublicClient({ ...rpcOf(options), cacheTime: 0 });

  /** What the token says of itself. Throws when its domain separator is not that of its name and version. */
  async function readAsset(asset: Address): Promise<{ name: string; version: string; decimals: number }> {
    const chainId = await publicClient.getChainId();
    if (chainId !== options.chainId) {
      throw new Error(`the RPC serves chain ${chainId}, not ${options.chainId}`);
    }
    const token = { address: asset, abi: TOKEN_ABI } as const;
    const [name, version, decimals, separator] = await Promise.all([
      publicClient.readContract({ ...token, functionName: 'name' }),
      publicClient.readContract({ ...token, functionName: 'version' }),
      publicClient.readContract({ ...token, functionName: 'decimals' }),
      publicClient.readContract({ ...token, functionName: 'DOMAIN_SEPARATOR' }),
    ]);
    const expected = domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } });
    if (separator !== expected) {
      throw new Error(
        `its domain separator ${separator} is not that of "${name}" version "${version}": ${expected}`,
      );
    }
    return { name, version, decimals };
  }

  /** What the transfer would do and cost; anyone may send it. */
  async function simulate(authorization: TransferAuthorization): Promise<Simulation> {
    const isDeployed = (await publicClient.getCode({ address: authorization.from })) !== undefined;
    const runsCode = isDeployed || isErc6492Signature(authorization.signature);
    const { to, data, gasMax } = transferCall(authorization, isDeployed);
    try {
      // Sent by whoever will send it: code may look at that.
      const account = options.relayer ?? authorization.to;
      const needed = await publicClient.estimateGas({ account, to, data, gas: gasMax });
      if (needed > gasMax) return { kind: 'too_costly' };
      const roomy = (needed * GAS_MARGIN_PERCENT) / 100n;
      return { kind: 'ok', runsCode, call: { to, data, gas: roomy < gasMax ? roomy : gasMax } };
    } catch (error) {
      if (isGasShort(error)) return { kind: 'too_costly' };
      const reverted = revertOf(error);
      if (reverted === undefined) throw error;
      const reason = reverted.reason ?? reverted.shortMessage;
      // The words are Circle's, and tell of a block that is not mined yet, too; other tokens have other words.
      const isUsed = /used or canceled/i.test(reason) || (await isNonceUsed(authorization));
      return { kind: 'reverted', reason, isUsed };
    }
  }

  const broadcast = (raw: Hex): Promise<Hex> =>
    publicClient.sendRawTransaction({ serializedTransaction: raw });

  async function resultOf(authorization: AuthorizedTransfer, hash: Hex): Promise<TransferResult> {
    try {
      const receipt = await publicClient.getTransactionReceipt({ hash });
      return resultIn(receipt, authorization, hash);
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return { kind: 'unknown' };
      throw error;
    }
  }

  async function awaitResult(
    authorization: TransferAuthorization,
    hash: Hex,
    timeoutMs: number,
  ): Promise<TransferResult> {
    try {
      const receipt = await publicClient.waitForTransactionReceipt({
        hash,
        timeout: timeoutMs,
        pollingInterval: RECEIPT_POLL_MS,
      });
      return resultIn(receipt, authorization, hash);
    } catch (error) {
      if (error instanceof WaitForTransactionReceiptTimeoutError) return { kind: 'unknown' };
      throw error;
    }
  }

  /**
   * True once the authorization was used, or cancelled by the payer: it can move no more money. Asked of
   * the state after `blockNumber`, so that a node that lags does not answer for an earlier one.
   */
  function isNonceUsed(authorization: AuthorizedTransfer, blockNumber?: bigint): Promise<boolean> {
    return publicClient.readContract({
      address: authorization.asset,
      abi: TOKEN_ABI,
      functionName: 'authorizationState',
      args: [authorization.from, authorization.nonce],
      ...(blockNumber === undefined ? {} : { blockNumber }),
    });
  }

  /**
   * What the log tells of a used authorization; undefined when nothing does. A node that lags tells nothing: from that
   * alone nothing follows.
   */
  async function findUse(authorization: AuthorizedTransfer): Promise<Use | undefined> {
    const events = (eventName: 'AuthorizationUsed' | 'AuthorizationCanceled', range: object) =>
      publicClient.getContractEvents({
        address: authorization.asset,
        abi: TOKEN_ABI,
        eventName,
        ...range,
        args: { authorizer: authorization.from, nonce: authorization.nonce },
      });
    return searchBack(publicClient, LOG_DEPTH_BLOCKS, async (range): Promise<Use | undefined> => {
      const [used] = await events('AuthorizationUsed', range);
      if (used !== undefined) {
        const receipt = await publicClient.getTransactionReceipt({ hash: used.transactionHash });
        const { transactionHash: transaction, blockNumber } = receipt;
        if (!isPaid(receipt, authorization)) return { kind: 'spent', transaction, blockNumber };
        const isOurs = options.relayer !== undefined && isAddressEqual(receipt.from, options.relayer);
        return { kind: 'paid', transaction, blockNumber, isOurs };
      }
      const [cancelled] = await events('AuthorizationCanceled', range);
      if (cancelled === undefined) return undefined;
      const { transactionHash: transaction, blockNumber } = cancelled;
      return { kind: 'spent', transaction, blockNumber };
    });
  }

  /**
   * Whether an authorization was used so long ago that the log would show by what, had it been within the blocks that `findUse`
   * searches. False while an RPC cannot say.
   */
  async function isLongUsed(authorization: TransferAuthorization): Promise<boolean> {
    const { number } = await head();
    if (number < LOG_LAG_BLOCKS) return false;
    return isNonceUsed(authorization, number - LOG_LAG_BLOCKS).catch((error: unknown) => {
      if (isUnreachable(error)) throw error;
      return false;
    });
  }

  /** The newest block; its time is in seconds since the Unix epoch. */
  async function head(): Promise<{ number: bigint; timestamp: bigint }> {
    const { number, timestamp } = await publicClient.getBlock({ blockTag: 'latest' });
    return { number, timestamp };
  }

  /** The newest block that no reorganisation takes back: the one that the RPC calls `safe`, else one `safeDepthBlocks` down. */
  async function safeBlock(): Promise<{ number: bigint; timestamp: bigint }> {
    try {
      const { number, timestamp } = await publicClient.getBlock({ blockTag: 'safe' });
      return { number, timestamp };
    } catch (error) {
      if (isUnreachable(error)) throw error;
      const { number: newest } = await head();
      const depth = BigInt(options.safeDepthBlocks ?? SAFE_DEPTH_BLOCKS);
      const blockNumber = newest > depth ? newest - depth : 0n;
      const { number, timestamp } = await publicClient.getBlock({ blockNumber });
      return { number, timestamp };
    }
  }

  return {
    chainId: options.chainId,
    readAsset,
    simulate,
    broadcast,
    resultOf,
    awaitResult,
    isNonceUsed,
    findUse,
    isLongUsed,
    safeBlock,
    head,
    accounts: accountSignatures(options.chainId, publicClient),
  };
}

/** What a call that the chain refused says; undefined where the call did not come so far. */
function revertOf(error: unknown): ContractFunctionRevertedError | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const named = getContractError(error, {
    abi: TOKEN_ABI,
    args: [],
    functionName: 'transferWithAuthorization',
  });
  const reverted = named.walk((cause) => cause instanceof ContractFunctionRevertedError);
  return reverted instanceof ContractFunctionRevertedError ? reverted : undefined;
}

/** Whether the RPC says that the call ends for want of gas: more than was allowed, or than a block has. */
const isGasShort = (error: unknown): boolean =>
  error instanceof BaseError &&
  /out of gas|outofgas|gas required exceeds|exceeds block gas limit/i.test(
    `${error.shortMessage} ${error.details}`,
  );
