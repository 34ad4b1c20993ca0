// The payee's account on its chain: signs refunds and reads their results.
import {
  BaseError,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  keccak256,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { type RpcOptions, rpcOf } from './chain/rpc.ts';
import {
  checkBalance,
  isNonceGone,
  isSpent,
  refusalOfToken,
  resultOf,
  type SentTransfer,
  TOKEN_ABI,
  type TokenTransfer,
  transferRejection,
  transfersSince,
} from './chain/token-transfers.ts';
import type { SignedTransaction } from './payment.ts';

/** Room above the estimate: the state may change between estimate and block. */
const GAS_MARGIN_PERCENT = 130n;

export type RefundTransaction = SignedTransaction;

/** Every method rejects when the RPC cannot be reached. */
export interface RefundWallet {
  /** Throws `OperatorRefusal` when the RPC serves another chain. */
  checkChain(): Promise<void>;
  /** Throws what `sign` would throw. Signs nothing. */
  check(transfer: TokenTransfer): Promise<void>;
  /** Throws `OperatorRefusal` without a key, and when token, balance or gas do not allow the transfer. */
  sign(transfer: TokenTransfer): Promise<RefundTransaction>;
  /** The RPC's error; empty if it accepted the transaction. After an error the transaction may still have reached the network. */
  broadcast(raw: Hex): Promise<string>;
  /** `unknown` while it is not mined. */
  resultOf(hash: Hex, transfer: TokenTransfer): Promise<'transferred' | 'reverted' | 'unknown'>;
  /**
   * Whether a transaction can never make the transfer: it was mined in a block up to `safe` and moved nothing, or another one has had its
   * nonce for a while.
   */
  isSpent(transaction: RefundTransaction, transfer: TokenTransfer, safe: bigint): Promise<boolean>;
  /**
   * Why the token rejects the transfer now; undefined if it would make it. Needs no key. Throws `OperatorRefusal` if the account has too
   * little of the token.
   */
  rejection(transfer: TokenTransfer): Promise<string | undefined>;
  /** Whether an unmined transaction never will be: another one has had its nonce for a while. */
  isNonceGone(transaction: RefundTransaction): Promise<boolean>;
  /** The identical transfers since a time. Throws `OperatorRefusal` if that is too long ago to be searched. */
  transfersSince(transfer: TokenTransfer, sinceMs: number): Promise<SentTransfer[]>;
}

/** The wallet of a key on a chain. Without a key it can only read and broadcast. */
export function connectRefundWallet(options: RpcOptions & { key: Hex | undefined }): RefundWallet {
  const rpc = rpcOf(options);
  const client = createPublicClient({ ...rpc, cacheTime: 0 });

  /** The transaction that makes a transfer, and the account that signs it. */
  async function prepared({ asset, from, to, value }: TokenTransfer) {
    if (options.key === undefined)
      throw new OperatorRefusal(`Give the key of ${from} in REFUND_KEY_FILE or REFUND_KEY.`);
    const account = privateKeyToAccount(options.key);
    if (!isAddressEqual(account.address, from))
      throw new OperatorRefusal(`The key belongs to ${account.address}, but the money went to ${from}.`);
    const call = { address: asset, abi: TOKEN_ABI, functionName: 'transfer', args: [to, value] } as const;
    await checkBalance(client, { asset, from, value });
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

    resultOf: (hash, transfer) => resultOf(client, hash, transfer),
    isSpent: (transaction, transfer, safe) => isSpent(client, transaction, { transfer, safe }),
    rejection: (transfer) => transferRejection(client, transfer),
    isNonceGone: (transaction) => isNonceGone(client, transaction),
    transfersSince: (transfer, sinceMs) => transfersSince(client, transfer, sinceMs),
  };
}

const shortMessage = (error: unknown): string =>
  error instanceof BaseError ? error.details || error.shortMessage : String(error);
