// Transfers of a token, as its chain has them: what a transaction did, whether it can still do it, and identical transfers.
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  getAddress,
  type Hex,
  isAddressEqual,
  type PublicClient,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { searchBack } from './rpc.ts';

export const TOKEN_ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** After this many blocks every node that responds knows that a nonce was used (2 s blocks). */
const NONCE_DEPTH_BLOCKS = 64n;

/** The supported chains have a block every 2 s; clocks of operators may be off. */
const BLOCKS_PER_SECOND_MAX = 1n;
const CLOCK_ERROR_SECONDS = 3_600;
/** A month. */
const DEPTH_BLOCKS_MAX = 2_600_000n;

export interface TokenTransfer {
  asset: Address;
  from: Address;
  to: Address;
  /** Smallest units. */
  value: bigint;
}

/** A transaction that made a transfer, or may. */
export interface SentTransfer {
  hash: Hex;
  sender: Address;
  nonce: number;
}

/** Throws `OperatorRefusal` if the account has less than the value. */
export async function checkBalance(
  client: PublicClient,
  { asset, from, value }: Omit<TokenTransfer, 'to'>,
): Promise<void> {
  const balance = await client.readContract({
    address: asset,
    abi: TOKEN_ABI,
    functionName: 'balanceOf',
    args: [from],
  });
  if (balance < value)
    throw new OperatorRefusal(`${from} has ${balance} of ${asset}, and ${value} must be refunded.`);
}

/** `unknown` while it is not mined. */
export async function resultOf(
  client: PublicClient,
  hash: Hex,
  transfer: TokenTransfer,
): Promise<'transferred' | 'reverted' | 'unknown'> {
  const receipt = await receiptOf(client, hash);
  if (receipt === undefined) return 'unknown';
  return isSent(receipt, transfer) ? 'transferred' : 'reverted';
}

/** Whether the transaction can never make the transfer. `safe`: the newest block that no reorganization reverts. */
export async function isSpent(
  client: PublicClient,
  transaction: SentTransfer,
  { transfer, safe }: { transfer: TokenTransfer; safe: bigint },
): Promise<boolean> {
  const receipt = await receiptOf(client, transaction.hash);
  if (receipt === undefined) return isNonceGone(client, transaction);
  return receipt.blockNumber <= safe && !isSent(receipt, transfer);
}

/** Whether another transaction has had the nonce for a while. */
export async function isNonceGone(client: PublicClient, { nonce, sender }: SentTransfer): Promise<boolean> {
  const latest = await client.getBlockNumber();
  if (latest < NONCE_DEPTH_BLOCKS) return false;
  const blockNumber = latest - NONCE_DEPTH_BLOCKS;
  return (await client.getTransactionCount({ address: sender, blockNumber })) > nonce;
}

/** Why the token rejects the transfer now; undefined if it would make it. Throws as `checkBalance`. */
export async function transferRejection(
  client: PublicClient,
  transfer: TokenTransfer,
): Promise<string | undefined> {
  const { asset, from, to, value } = transfer;
  await checkBalance(client, transfer);
  const call = { address: asset, abi: TOKEN_ABI, functionName: 'transfer', args: [to, value] } as const;
  try {
    const { result } = await client.simulateContract({ ...call, account: from }).catch(refusalOfToken);
    return result ? undefined : 'the token does not make the transfer';
  } catch (error) {
    if (error instanceof OperatorRefusal) return error.message;
    throw error;
  }
}

/** The identical transfers since a time. Throws `OperatorRefusal` if that is too long ago to be searched. */
export async function transfersSince(
  client: PublicClient,
  { asset, from, to, value }: TokenTransfer,
  sinceMs: number,
): Promise<SentTransfer[]> {
  const { timestamp } = await client.getBlock({ blockTag: 'latest' });
  const ageSeconds = Number(timestamp) - Math.floor(sinceMs / 1000);
  const depthBlocks = BigInt(Math.max(0, ageSeconds) + CLOCK_ERROR_SECONDS) * BLOCKS_PER_SECOND_MAX;
  if (depthBlocks > DEPTH_BLOCKS_MAX)
    throw new OperatorRefusal('The refund began too long ago: its blocks can no longer be searched.');
  const event = { address: asset, abi: TOKEN_ABI, eventName: 'Transfer', args: { from, to } } as const;
  const hashes = new Set<Hex>();
  await searchBack(client, depthBlocks, async (range) => {
    const found = await client.getContractEvents({ ...event, strict: true, ...range });
    for (const log of found) if (log.args.value === value) hashes.add(log.transactionHash);
    return undefined;
  });
  return Promise.all(
    [...hashes].map(async (hash) => {
      const sent = await client.getTransaction({ hash });
      return { hash, sender: getAddress(sent.from), nonce: sent.nonce };
    }),
  );
}

/** Throws `OperatorRefusal` with the token's reason, or what went wrong otherwise. */
export function refusalOfToken(error: unknown): never {
  const reverted =
    error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
  throw new OperatorRefusal(`The token rejects the transfer: ${reverted.reason ?? reverted.shortMessage}`);
}

/** Undefined while it is not mined. */
const receiptOf = (client: PublicClient, hash: Hex): Promise<TransactionReceipt | undefined> =>
  client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  });

function isSent(receipt: TransactionReceipt, { asset, from, to, value }: TokenTransfer): boolean {
  if (receipt.status !== 'success') return false;
  const ours = receipt.logs.filter((log) => isAddressEqual(log.address, asset));
  return parseEventLogs({ abi: TOKEN_ABI, eventName: 'Transfer', logs: ours }).some(
    ({ args }) => isAddressEqual(args.from, from) && isAddressEqual(args.to, to) && args.value === value,
  );
}
