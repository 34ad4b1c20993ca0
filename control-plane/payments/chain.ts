// The chain as settlement needs it: simulate, broadcast, look up.
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  domainSeparator,
  type Hex,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from 'viem';
import type { AuthorizedTransfer, TransferAuthorization } from './payment.ts';
import { type RpcOptions, rpcOf, searchBack } from './rpc.ts';
import { isPaid, resultIn, TOKEN_ABI, type TransferResult } from './token-events.ts';

/** The call that moves the authorized money. */
export const transferCall = (authorization: TransferAuthorization) =>
  ({
    address: authorization.asset,
    abi: TOKEN_ABI,
    functionName: 'transferWithAuthorization',
    args: [
      authorization.from,
      authorization.to,
      authorization.value,
      authorization.validAfter,
      authorization.validBefore,
      authorization.nonce,
      authorization.signature,
    ],
  }) as const;

const RECEIPT_POLL_MS = 200;

/** Room above the estimate: the state may change between estimate and block. */
const GAS_MARGIN_PERCENT = 130n;

/** How far back a used authorization is searched: an authorization lives a day at most (2 s blocks). */
const LOG_DEPTH_BLOCKS = 45_000n;

export type Simulation =
  | { kind: 'ok'; gas: bigint }
  /** `isUsed`: used or cancelled already, in a block or in one to come. */
  | { kind: 'reverted'; reason: string; isUsed: boolean };
/** What became of an authorization that can move no more money. */
export type Use =
  | { kind: 'paid'; transaction: Hex }
  /** Used for another transfer of its payer, or cancelled. */
  | { kind: 'spent'; transaction: Hex };

export type Chain = ReturnType<typeof connectChain>;

/** Every method rejects when the RPC cannot be reached: that says nothing about the payment. */
export function connectChain(options: RpcOptions) {
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
    try {
      const account = authorization.to;
      const gas = await publicClient.estimateContractGas({ ...transferCall(authorization), account });
      return { kind: 'ok', gas: (gas * GAS_MARGIN_PERCENT) / 100n };
    } catch (error) {
      const reverted =
        error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
      if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
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
  function isNonceUsed(authorization: TransferAuthorization, blockNumber?: bigint): Promise<boolean> {
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
  async function findUse(authorization: TransferAuthorization): Promise<Use | undefined> {
    const events = (eventName: 'AuthorizationUsed' | 'AuthorizationCanceled', range: object) =>
      publicClient.getContractEvents({
        ...{ address: authorization.asset, abi: TOKEN_ABI, eventName, ...range },
        args: { authorizer: authorization.from, nonce: authorization.nonce },
      });
    return searchBack(publicClient, LOG_DEPTH_BLOCKS, async (range): Promise<Use | undefined> => {
      const [used] = await events('AuthorizationUsed', range);
      if (used !== undefined) {
        const receipt = await publicClient.getTransactionReceipt({ hash: used.transactionHash });
        return { kind: isPaid(receipt, authorization) ? 'paid' : 'spent', transaction: used.transactionHash };
      }
      const [cancelled] = await events('AuthorizationCanceled', range);
      return cancelled && { kind: 'spent', transaction: cancelled.transactionHash };
    });
  }

  /** The newest block; its time is in seconds since the Unix epoch. */
  async function head(): Promise<{ number: bigint; timestamp: bigint }> {
    const { number, timestamp } = await publicClient.getBlock({ blockTag: 'latest' });
    return { number, timestamp };
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
    head,
  };
}
