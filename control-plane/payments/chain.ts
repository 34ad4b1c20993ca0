// The chain as settlement needs it: simulate, broadcast, look up.
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  defineChain,
  domainSeparator,
  type Hex,
  http,
  isAddressEqual,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from 'viem';
import type { AuthorizedTransfer, TransferAuthorization } from './payment.ts';

/** Where a chain is asked. */
export interface RpcOptions {
  chainId: number;
  rpcUrl: string;
  /** Of one call. */
  rpcTimeoutMs: number;
}

/** How viem reaches a chain. */
export function rpcOf({ chainId, rpcUrl, rpcTimeoutMs }: RpcOptions) {
  const chain = defineChain({
    id: chainId,
    name: `eip155:${chainId}`,
    // Room for the base fee to rise while a transaction waits; what is not needed is not paid.
    fees: { baseFeeMultiplier: 3 },
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  return { chain, transport: http(rpcUrl, { timeout: rpcTimeoutMs, retryCount: 1 }) };
}

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

const TOKEN_ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

const RECEIPT_POLL_MS = 200;

/** Room above the estimate: the state may change between estimate and block. */
const GAS_MARGIN_PERCENT = 130n;

/** Blocks searched in one request for a used authorization; nodes refuse wider ranges. */
const LOG_RANGE_BLOCKS = 9_000n;

/** How far back a used authorization is searched: an authorization lives a day at most (2 s blocks). */
const LOG_DEPTH_BLOCKS = 45_000n;

export type Simulation =
  | { kind: 'ok'; gas: bigint }
  /** `isUsed`: used or cancelled already, in a block or in one to come. */
  | { kind: 'reverted'; reason: string; isUsed: boolean };
/** What a transaction did, and in which block; `unknown` while it is not mined. */
export type TransferResult =
  | { kind: 'transferred' }
  | { kind: 'reverted'; blockNumber: bigint }
  | { kind: 'unknown' };

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
      return { kind: 'reverted', reason, isUsed: /used or canceled/i.test(reason) };
    }
  }

  const broadcast = (raw: Hex): Promise<Hex> =>
    publicClient.sendRawTransaction({ serializedTransaction: raw });

  /** What the mined transaction did; `unknown` while it is not mined. */
  async function resultOf(authorization: AuthorizedTransfer, hash: Hex): Promise<TransferResult> {
    try {
      const receipt = await publicClient.getTransactionReceipt({ hash });
      return resultIn(receipt, authorization);
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
      return resultIn(receipt, authorization);
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

  /** The transaction, whoever sent it, that moved the authorized money to us. */
  async function findTransfer(authorization: TransferAuthorization): Promise<Hex | undefined> {
    const latest = await publicClient.getBlockNumber();
    const oldest = latest > LOG_DEPTH_BLOCKS ? latest - LOG_DEPTH_BLOCKS : 0n;
    for (let to = latest; to >= oldest; to -= LOG_RANGE_BLOCKS) {
      const from = to - LOG_RANGE_BLOCKS + 1n;
      const [used] = await publicClient.getContractEvents({
        address: authorization.asset,
        abi: TOKEN_ABI,
        eventName: 'AuthorizationUsed',
        args: { authorizer: authorization.from, nonce: authorization.nonce },
        fromBlock: from > oldest ? from : oldest,
        toBlock: to,
      });
      if (used !== undefined) {
        const receipt = await publicClient.getTransactionReceipt({ hash: used.transactionHash });
        return isPaid(receipt, authorization) ? receipt.transactionHash : undefined;
      }
    }
    return undefined;
  }

  async function now(): Promise<bigint> {
    return (await publicClient.getBlock({ blockTag: 'latest' })).timestamp;
  }

  return {
    chainId: options.chainId,
    readAsset,
    simulate,
    broadcast,
    resultOf,
    awaitResult,
    isNonceUsed,
    findTransfer,
    now,
  };
}

function resultIn(receipt: TransactionReceipt, authorization: AuthorizedTransfer): TransferResult {
  if (isPaid(receipt, authorization)) return { kind: 'transferred' };
  return { kind: 'reverted', blockNumber: receipt.blockNumber };
}

// The token writes the use of an authorization and its transfer one after the other. Any other transfer of
// the same payer in the same transaction belongs to another authorization.
function isPaid(receipt: TransactionReceipt, authorization: AuthorizedTransfer): boolean {
  if (receipt.status !== 'success') return false;
  const ours = receipt.logs.filter((log) => isAddressEqual(log.address, authorization.asset));
  const logs = parseEventLogs({ abi: TOKEN_ABI, eventName: ['AuthorizationUsed', 'Transfer'], logs: ours });
  return logs.some((used, index) => {
    const transfer = logs[index + 1];
    return (
      used.eventName === 'AuthorizationUsed' &&
      isAddressEqual(used.args.authorizer, authorization.from) &&
      used.args.nonce === authorization.nonce &&
      transfer?.eventName === 'Transfer' &&
      transfer.logIndex === used.logIndex + 1 &&
      isAddressEqual(transfer.args.from, authorization.from) &&
      isAddressEqual(transfer.args.to, authorization.to) &&
      transfer.args.value === authorization.value
    );
  });
}
