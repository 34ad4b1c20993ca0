// The payee's account on its chain: signs refunds and reads their results.
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  getAddress,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { type RpcOptions, rpcOf, searchBack } from './chain/rpc.ts';
import type { SignedTransaction } from './payment.ts';

const ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** Room above the estimate: the state may change between estimate and block. */
const GAS_MARGIN_PERCENT = 130n;

/** After this many blocks every node that responds knows that a nonce was used (2 s blocks). */
const NONCE_DEPTH_BLOCKS = 64n;

/** The supported chains have a block every 2 s; clocks of operators may be off. */
const BLOCKS_PER_SECOND_MAX = 1n;
const CLOCK_ERROR_SECONDS = 3_600;
/** A month. */
const DEPTH_BLOCKS_MAX = 2_600_000n;

export interface RefundTransfer {
  asset: Address;
  from: Address;
  to: Address;
  /** Smallest units. */
  value: bigint;
}

export type RefundTransaction = SignedTransaction;

/** A transfer on the chain, from any source. */
export interface SentTransfer {
  hash: Hex;
  sender: Address;
  nonce: number;
}

/** Every method rejects when the RPC cannot be reached. */
export interface RefundWallet {
  /** Throws `OperatorRefusal` when the RPC serves another chain. */
  checkChain(): Promise<void>;
  /** Throws what `sign` would throw. Signs nothing. */
  check(transfer: RefundTransfer): Promise<void>;
  /** Throws `OperatorRefusal` without a key, and when token, balance or gas do not allow the transfer. */
  sign(transfer: RefundTransfer): Promise<RefundTransaction>;
  /** The RPC's error; empty if it accepted the transaction. After an error the transaction may still have reached the network. */
  broadcast(raw: Hex): Promise<string>;
  /** `unknown` while it is not mined. */
  resultOf(hash: Hex, transfer: RefundTransfer): Promise<'transferred' | 'reverted' | 'unknown'>;
  /**
   * Whether a transaction can never make the transfer: it was mined in a block up to `safe` and moved nothing, or another one has had its
   * nonce for a while.
   */
  isSpent(transaction: RefundTransaction, transfer: RefundTransfer, safe: bigint): Promise<boolean>;
  /**
   * Why the token rejects the transfer now; undefined if it would make it. Needs no key. Throws `OperatorRefusal` if the account has too
   * little of the token.
   */
  rejection(transfer: RefundTransfer): Promise<string | undefined>;
  /** Whether an unmined transaction never will be: another one has had its nonce for a while. */
  isNonceGone(transaction: RefundTransaction): Promise<boolean>;
  /** The identical transfers since a time. Throws `OperatorRefusal` if that is too long ago to be searched. */
  transfersSince(transfer: RefundTransfer, sinceMs: number): Promise<SentTransfer[]>;
}

/** The wallet of a key on a chain. Without a key it can only read and broadcast. */
export function connectRefundWallet(options: RpcOptions & { key: Hex | undefined }): RefundWallet {
  const rpc = rpcOf(options);
  const client = createPublicClient({ ...rpc, cacheTime: 0 });

  async function checkBalance({ asset, from, value }: Omit<RefundTransfer, 'to'>): Promise<void> {
    const balance = await client.readContract({
      address: asset,
      abi: ABI,
      functionName: 'balanceOf',
      args: [from],
    });
    if (balance < value)
      throw new OperatorRefusal(`${from} has ${balance} of ${asset}, and ${value} must be refunded.`);
  }

  /** Undefined while it is not mined. */
  const receiptOf = (hash: Hex) =>
    client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return undefined;
      throw error;
    });

  async function isNonceGone({ nonce, sender }: RefundTransaction): Promise<boolean> {
    const latest = await client.getBlockNumber();
    if (latest < NONCE_DEPTH_BLOCKS) return false;
    const blockNumber = latest - NONCE_DEPTH_BLOCKS;
    return (await client.getTransactionCount({ address: sender, blockNumber })) > nonce;
  }

  /** The transaction that makes a transfer, and the account that signs it. */
  async function prepared({ asset, from, to, value }: RefundTransfer) {
    if (options.key === undefined)
      throw new OperatorRefusal(`Give the key of ${from} in REFUND_KEY_FILE or REFUND_KEY.`);
    const account = privateKeyToAccount(options.key);
    if (!isAddressEqual(account.address, from))
      throw new OperatorRefusal(`The key belongs to ${account.address}, but the money went to ${from}.`);
    const call = { address: asset, abi: ABI, functionName: 'transfer', args: [to, value] } as const;
    await checkBalance({ asset, from, value });
    const estimate = await client.estimateContractGas({ ...call, account: from }).catch(refusalOfToken);
    const gas = (estimate * GAS_MARGIN_PERCENT) / 100n;
    const nonce = await client.getTransactionCount({ address: from, blockTag: 'pending' });
    const wallet = createWalletClient({ ...rpc, account });
    const data = encodeFunctionData(call);
    const request = await wallet.prepareTransactionRequest({ to: asset, data, gas, nonce });
    const wei = await client.getBalance({ address: from });
    const needed = gas * request.maxFeePerGas;
    if (wei < needed)
      throw new OperatorRefusal(`${from} has ${wei} wei, and the gas may cost ${needed} wei.`);
    return { nonce, sender: account.address, sign: () => wallet.signTransaction(request) };
  }

  return {
    async checkChain() {
      const chainId = await client.getChainId();
      if (chainId !== options.chainId)
        throw new OperatorRefusal(`The RPC serves chain ${chainId}, not ${options.chainId}.`);
    },

    async check(transfer) {
      await prepared(transfer);
    },

    async sign(transfer) {
      const { nonce, sender, sign } = await prepared(transfer);
      const raw = await sign();
      return { raw, hash: keccak256(raw), nonce, sender };
    },

    broadcast: (raw) =>
      client.sendRawTransaction({ serializedTransaction: raw }).then(
        () => '',
        (error: unknown) => shortMessage(error),
      ),

    async resultOf(hash, transfer) {
      const receipt = await receiptOf(hash);
      if (receipt === undefined) return 'unknown';
      return isSent(receipt, transfer) ? 'transferred' : 'reverted';
    },

    async isSpent(transaction, transfer, safe) {
      const receipt = await receiptOf(transaction.hash);
      if (receipt === undefined) return isNonceGone(transaction);
      return receipt.blockNumber <= safe && !isSent(receipt, transfer);
    },

    async rejection({ asset, from, to, value }) {
      await checkBalance({ asset, from, value });
      const call = { address: asset, abi: ABI, functionName: 'transfer', args: [to, value] } as const;
      try {
        const { result } = await client.simulateContract({ ...call, account: from }).catch(refusalOfToken);
        return result ? undefined : 'the token does not make the transfer';
      } catch (error) {
        if (error instanceof OperatorRefusal) return error.message;
        throw error;
      }
    },

    isNonceGone,

    async transfersSince({ asset, from, to, value }, sinceMs) {
      const { timestamp } = await client.getBlock({ blockTag: 'latest' });
      const ageSeconds = Number(timestamp) - Math.floor(sinceMs / 1000);
      const depthBlocks = BigInt(Math.max(0, ageSeconds) + CLOCK_ERROR_SECONDS) * BLOCKS_PER_SECOND_MAX;
      if (depthBlocks > DEPTH_BLOCKS_MAX)
        throw new OperatorRefusal('The refund began too long ago: its blocks can no longer be searched.');
      const hashes: Hex[] = [];
      await searchBack(client, depthBlocks, async (range) => {
        const args = { from, to };
        const found = await client.getContractEvents({
          address: asset,
          abi: ABI,
          eventName: 'Transfer',
          args,
          strict: true,
          ...range,
        });
        hashes.push(...found.filter((log) => log.args.value === value).map((log) => log.transactionHash));
        return undefined;
      });
      return Promise.all(
        [...new Set(hashes)].map(async (hash) => {
          const sent = await client.getTransaction({ hash });
          return { hash, sender: getAddress(sent.from), nonce: sent.nonce };
        }),
      );
    },
  };
}

function isSent(receipt: TransactionReceipt, { asset, from, to, value }: RefundTransfer): boolean {
  if (receipt.status !== 'success') return false;
  const ours = receipt.logs.filter((log) => isAddressEqual(log.address, asset));
  return parseEventLogs({ abi: ABI, eventName: 'Transfer', logs: ours }).some(
    ({ args }) => isAddressEqual(args.from, from) && isAddressEqual(args.to, to) && args.value === value,
  );
}

function refusalOfToken(error: unknown): never {
  const reverted =
    error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
  throw new OperatorRefusal(`The token rejects the transfer: ${reverted.reason ?? reverted.shortMessage}`);
}

const shortMessage = (error: unknown): string =>
  error instanceof BaseError ? error.details || error.shortMessage : String(error);
