// The relayer's account on one chain: signs transfers, and keeps track of its nonces and its gas balance.
import {
  type Address,
  createPublicClient,
  createWalletClient,
  type Hex,
  keccak256,
  parseTransaction,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type RpcOptions, rpcOf } from './chain/rpc.ts';
import type { PricedCall } from './chain/simulation.ts';
import { TRANSFER_GAS_MAX } from './chain/transfer-call.ts';
import type { RelayedTransaction } from './payment.ts';

/** The relayer cannot pay for gas. Nothing was signed. */
export class RelayerUnfunded extends Error {
  override name = 'RelayerUnfunded';
}

/** A relayer's account on one chain. Every method rejects when the RPC cannot be reached. */
export interface RelayerWallet {
  readonly address: Address;
  /**
   * Signs for its next nonce, which is `nonceMin` or later. Calls must not overlap: two would take the same nonce. Throws
   * `RelayerUnfunded`.
   */
  sign(call: PricedCall, nonceMin: number): Promise<RelayedTransaction>;
  /** The same call and nonce with a higher fee, if the present fee exceeds the signed one; else undefined. Throws `RelayerUnfunded`. */
  raised(transaction: RelayedTransaction): Promise<RelayedTransaction | undefined>;
  /**
   * An empty transfer to itself with the same nonce, for a higher fee: nodes accept it in place of the transaction. Throws
   * `RelayerUnfunded`.
   */
  emptied(transaction: RelayedTransaction): Promise<RelayedTransaction>;
  /** Number of its transactions that the RPC knows and that are in no block. */
  waiting(): Promise<number>;
  /** Its balance in wei, and how many transfers that pays for at the present fee. */
  funds(): Promise<{ balanceWei: bigint; transfers: number }>;
}

/** The keys of the service's relayer. */
export interface RelayerKeys {
  /** Signs all new transactions. */
  present: Hex;
  /** Keys of earlier relayers. Each only finishes what it has sent. */
  former: readonly Hex[];
}

/** The wallets of these keys on one chain. */
export interface RelayerWallets {
  readonly present: RelayerWallet;
  readonly former: readonly RelayerWallet[];
}

export const connectRelayerWallets = (rpc: RpcOptions, { present, former }: RelayerKeys): RelayerWallets => ({
  present: connectRelayerWallet({ ...rpc, key: present }),
  former: former.map((key) => connectRelayerWallet({ ...rpc, key })),
});

/** The addresses of relayers, the present one first. */
export const relayerAddresses = ({ present, former }: RelayerKeys): Address[] =>
  [present, ...former].map((key) => privateKeyToAccount(key).address);

/** The wallet of a key on a chain. */
export function connectRelayerWallet(options: RpcOptions & { key: Hex }): RelayerWallet {
  const rpc = rpcOf(options);
  const account = privateKeyToAccount(options.key);
  const { address } = account;
  const publicClient = createPublicClient({ ...rpc, cacheTime: 0 });
  const walletClient = createWalletClient({ ...rpc, account });

  const priced = (call: PricedCall & { nonce: number }) =>
    walletClient.prepareTransactionRequest({ ...call, type: 'eip1559' });

  async function signFunded(
    request: Awaited<ReturnType<typeof priced>>,
    { isEmpty }: Pick<RelayedTransaction, 'isEmpty'>,
  ): Promise<RelayedTransaction> {
    const balance = await publicClient.getBalance({ address });
    if (balance < request.gas * request.maxFeePerGas) {
      throw new RelayerUnfunded(`relayer ${address} has ${balance} wei`);
    }
    const raw = await walletClient.signTransaction(request);
    return { raw, hash: keccak256(raw), nonce: request.nonce, sender: address, isEmpty };
  }

  /** With a fee for which nodes accept it in place of `replaced`. */
  async function signInPlaceOf(
    { raw }: RelayedTransaction,
    request: PricedCall & { nonce: number },
    isEmpty: boolean,
  ) {
    const { maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(raw as `0x02${string}`);
    const present = await priced(request);
    const fees = {
      maxFeePerGas: larger(present.maxFeePerGas, stepped(maxFeePerGas ?? 0n)),
      maxPriorityFeePerGas: larger(present.maxPriorityFeePerGas, stepped(maxPriorityFeePerGas ?? 0n)),
    };
    return signFunded({ ...present, ...fees }, { isEmpty });
  }

  return {
    address,

    async sign(call, nonceMin) {
      const pending = await publicClient.getTransactionCount({ address, blockTag: 'pending' });
      const request = await priced({ ...call, nonce: Math.max(pending, nonceMin) });
      return signFunded(request, { isEmpty: false });
    },

    async raised(transaction) {
      const { isEmpty, nonce, raw } = transaction;
      const { to, data = '0x', gas, maxFeePerGas } = parseTransaction(raw as `0x02${string}`);
      const { baseFeePerGas } = await publicClient.getBlock({ blockTag: 'latest' });
      const isEnough = maxFeePerGas !== undefined && maxFeePerGas >= stepped(baseFeePerGas ?? 0n);
      if (isEnough || to == null || gas === undefined) return undefined;
      return signInPlaceOf(transaction, { to, data, gas, nonce }, isEmpty);
    },

    async emptied(transaction) {
      const gas = await publicClient.estimateGas({ account: address, to: address });
      const { nonce } = transaction;
      return signInPlaceOf(transaction, { to: address, data: '0x', gas, nonce }, true);
    },

    async waiting() {
      const [mined, all] = await Promise.all([
        publicClient.getTransactionCount({ address, blockTag: 'latest' }),
        publicClient.getTransactionCount({ address, blockTag: 'pending' }),
      ]);
      return Math.max(0, all - mined);
    },

    async funds() {
      const [balanceWei, { maxFeePerGas }] = await Promise.all([
        publicClient.getBalance({ address }),
        publicClient.estimateFeesPerGas(),
      ]);
      const transfers = Number(balanceWei / (TRANSFER_GAS_MAX * (maxFeePerGas > 0n ? maxFeePerGas : 1n)));
      return { balanceWei, transfers };
    },
  };
}

/**
 * An eighth more, and at least 1 wei. The base fee may rise that much per block (EIP-1559), and nodes require at least a tenth more for a
 * replacement.
 */
const stepped = (fee: bigint): bigint => fee + fee / 8n + 1n;

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
