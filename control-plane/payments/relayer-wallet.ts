// The relayer's account on one chain: signs transfers, knows its nonces and its money for gas.
import {
  type Address,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  keccak256,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type RpcOptions, rpcOf, transferCall } from './chain.ts';
import type { SignedTransaction, TransferAuthorization } from './payment.ts';

/** Gas of one transfer, generously: what the watch over the balance reckons with. */
const TRANSFER_GAS = 120_000n;

/** The relayer cannot pay for gas. Nothing was signed. */
export class RelayerUnfunded extends Error {
  override name = 'RelayerUnfunded';
}

/** Every method rejects when the RPC cannot be reached. */
export interface RelayerWallet {
  readonly address: Address;
  /**
   * Signs for its next nonce. Calls must not overlap: two would take the same nonce. Throws `RelayerUnfunded`.
   */
  sign(authorization: TransferAuthorization, gas: bigint): Promise<SignedTransaction>;
  /** Transactions of it that are in a block. */
  minedNonce(): Promise<number>;
  /** Its money, wei, and for how many transfers that is enough at the present fee. */
  funds(): Promise<{ balanceWei: bigint; transfers: number }>;
}

/** The wallet of a key on a chain. */
export function connectRelayerWallet(options: RpcOptions & { key: Hex }): RelayerWallet {
  const rpc = rpcOf(options);
  const account = privateKeyToAccount(options.key);
  const { address } = account;
  const publicClient = createPublicClient({ ...rpc, cacheTime: 0 });
  const walletClient = createWalletClient({ ...rpc, account });
  return {
    address,

    async sign(authorization, gas) {
      const nonce = await publicClient.getTransactionCount({ address, blockTag: 'pending' });
      const request = await walletClient.prepareTransactionRequest({
        to: authorization.asset,
        data: encodeFunctionData(transferCall(authorization)),
        gas,
        nonce,
      });
      const balance = await publicClient.getBalance({ address });
      if (balance < gas * request.maxFeePerGas) {
        throw new RelayerUnfunded(`relayer ${address} has ${balance} wei`);
      }
      const raw = await walletClient.signTransaction(request);
      return { raw, hash: keccak256(raw), nonce };
    },

    minedNonce: () => publicClient.getTransactionCount({ address, blockTag: 'latest' }),

    async funds() {
      const [balanceWei, { maxFeePerGas }] = await Promise.all([
        publicClient.getBalance({ address }),
        publicClient.estimateFeesPerGas(),
      ]);
      const transfers = Number(balanceWei / (TRANSFER_GAS * (maxFeePerGas > 0n ? maxFeePerGas : 1n)));
      return { balanceWei, transfers };
    },
  };
}
