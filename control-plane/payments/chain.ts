// The chain as settlement needs it: simulate, sign, broadcast, look up. The only file that talks to an RPC.
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  type Hex,
  http,
  isAddressEqual,
  keccak256,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { TransferAuthorization } from './payment.ts';

const TOKEN_ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

const RPC_TIMEOUT_MS = 10_000;
const RECEIPT_POLL_MS = 200;

/** Room above the estimate: the state may change between estimate and block. */
const GAS_MARGIN_PERCENT = 130n;

/** Blocks searched in one request for a used authorization; nodes refuse wider ranges. */
const LOG_RANGE_BLOCKS = 9_000n;

/** How far back a used authorization is searched: an authorization lives a day at most (2 s blocks). */
const LOG_DEPTH_BLOCKS = 45_000n;

export type Simulation = { kind: 'ok'; gas: bigint } | { kind: 'reverted'; reason: string };
export type TransferResult = 'transferred' | 'reverted' | 'unknown';

export interface SignedTransaction {
  raw: Hex;
  hash: Hex;
  nonce: number;
}

export type Chain = ReturnType<typeof connectChain>;

/** Every method rejects when the RPC cannot be reached: that says nothing about the payment. */
export function connectChain(options: { chainId: number; rpcUrl: string; relayerKey: Hex }) {
  const chain = defineChain({
    id: options.chainId,
    name: `eip155:${options.chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [options.rpcUrl] } },
  });
  const transport = http(options.rpcUrl, { timeout: RPC_TIMEOUT_MS, retryCount: 1 });
  const publicClient = createPublicClient({ chain, transport, cacheTime: 0 });
  const relayer = privateKeyToAccount(options.relayerKey);
  const walletClient = createWalletClient({ account: relayer, chain, transport });

  const callOf = (authorization: TransferAuthorization) =>
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

  async function readAssetDomain(asset: Address): Promise<{ name: string; version: string }> {
    const [name, version, chainId] = await Promise.all([
      publicClient.readContract({ address: asset, abi: TOKEN_ABI, functionName: 'name' }),
      publicClient.readContract({ address: asset, abi: TOKEN_ABI, functionName: 'version' }),
      publicClient.getChainId(),
    ]);
    if (chainId !== options.chainId) {
      throw new Error(`the RPC serves chain ${chainId}, not ${options.chainId}`);
    }
    return { name, version };
  }

  async function simulate(authorization: TransferAuthorization): Promise<Simulation> {
    try {
      const gas = await publicClient.estimateContractGas({ ...callOf(authorization), account: relayer });
      return { kind: 'ok', gas: (gas * GAS_MARGIN_PERCENT) / 100n };
    } catch (error) {
      const reverted =
        error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
      if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
      return { kind: 'reverted', reason: reverted.reason ?? reverted.shortMessage };
    }
  }

  /** Signs for the relayer's next nonce. Calls must not overlap: two would take the same nonce. */
  async function sign(authorization: TransferAuthorization, gas: bigint): Promise<SignedTransaction> {
    const nonce = await publicClient.getTransactionCount({ address: relayer.address, blockTag: 'pending' });
    const request = await walletClient.prepareTransactionRequest({
      to: authorization.asset,
      data: encodeFunctionData(callOf(authorization)),
      gas,
      nonce,
    });
    const raw = await walletClient.signTransaction(request);
    return { raw, hash: keccak256(raw), nonce };
  }

  const broadcast = (raw: Hex): Promise<Hex> =>
    publicClient.sendRawTransaction({ serializedTransaction: raw });

  /** What the mined transaction did; `unknown` while it is not mined. */
  async function resultOf(authorization: TransferAuthorization, hash: Hex): Promise<TransferResult> {
    try {
      const receipt = await publicClient.getTransactionReceipt({ hash });
      return isPaid(receipt, authorization) ? 'transferred' : 'reverted';
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return 'unknown';
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
      return isPaid(receipt, authorization) ? 'transferred' : 'reverted';
    } catch (error) {
      if (error instanceof WaitForTransactionReceiptTimeoutError) return 'unknown';
      throw error;
    }
  }

  /** True once the authorization was used, or cancelled by the payer: it can move no more money. */
  function isNonceUsed(authorization: TransferAuthorization): Promise<boolean> {
    return publicClient.readContract({
      address: authorization.asset,
      abi: TOKEN_ABI,
      functionName: 'authorizationState',
      args: [authorization.from, authorization.nonce],
    });
  }

  /** True when some transaction, whoever sent it, moved the authorized money to us. */
  async function hasTransferred(authorization: TransferAuthorization): Promise<boolean> {
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
        return isPaid(receipt, authorization);
      }
    }
    return false;
  }

  async function now(): Promise<bigint> {
    return (await publicClient.getBlock({ blockTag: 'latest' })).timestamp;
  }

  const minedNonce = (): Promise<number> =>
    publicClient.getTransactionCount({ address: relayer.address, blockTag: 'latest' });

  return {
    relayer: relayer.address,
    readAssetDomain,
    simulate,
    sign,
    broadcast,
    resultOf,
    awaitResult,
    isNonceUsed,
    hasTransferred,
    now,
    minedNonce,
  };
}

function isPaid(receipt: TransactionReceipt, authorization: TransferAuthorization): boolean {
  if (receipt.status !== 'success') return false;
  const ours = receipt.logs.filter((log) => isAddressEqual(log.address, authorization.asset));
  return parseEventLogs({ abi: TOKEN_ABI, eventName: 'Transfer', logs: ours }).some(
    ({ args }) =>
      isAddressEqual(args.from, authorization.from) &&
      isAddressEqual(args.to, authorization.to) &&
      args.value === authorization.value,
  );
}
