// Whether an authorization was used, and by which transaction.
import { type Address, type Hex, isAddressEqual, type PublicClient } from 'viem';
import type { AuthorizedTransfer, TransferAuthorization } from '../../domain/transfer-authorization.ts';
import type { blocksOf } from './blocks.ts';
import { isUnreachable, searchBack } from './rpc.ts';
import { isPaid, TOKEN_ABI } from './token-events.ts';

/** How far back the use of an authorization is searched at its end: an authorization lives a day at most. */
const LOG_DEPTH_S = 25n * 60n * 60n;
const BLOCK_S = 2n;

/** In a block this deep the log agrees with the state, however far a node's log lags behind. */
const LOG_LAG_BLOCKS = 64n;

/** The use of an authorization that can move no more money. */
export type Use =
  /** `isOurs`: our relayer sent it, or a former one of ours, perhaps as a replacement of its own earlier transaction. */
  | { kind: 'paid'; transaction: Hex; blockNumber: bigint; isOurs: boolean }
  /** Used for another transfer of its payer, or canceled. */
  | { kind: 'spent'; transaction: Hex; blockNumber: bigint };

export function authorizationUses(
  publicClient: PublicClient,
  { head, relayers }: { head: ReturnType<typeof blocksOf>['head']; relayers: readonly Address[] },
) {
  /**
   * True once the authorization was used, or canceled by the payer: it can move no more money. Reads the state after `blockNumber`, so that
   * a node that lags does not answer for an earlier one.
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
   * How an authorization was used, according to the log. Undefined if the log has nothing. That alone proves nothing: the log of a node may
   * lag. `overSinceS`: seconds since the end of the authorization, which are searched, too.
   */
  async function findUse(authorization: AuthorizedTransfer, overSinceS = 0n): Promise<Use | undefined> {
    const events = (eventName: 'AuthorizationUsed' | 'AuthorizationCanceled', range: object) =>
      publicClient.getContractEvents({
        address: authorization.asset,
        abi: TOKEN_ABI,
        eventName,
        ...range,
        args: { authorizer: authorization.from, nonce: authorization.nonce },
      });
    return searchBack(
      publicClient,
      (LOG_DEPTH_S + overSinceS) / BLOCK_S,
      async (range): Promise<Use | undefined> => {
        const [used] = await events('AuthorizationUsed', range);
        if (used !== undefined) {
          const receipt = await publicClient.getTransactionReceipt({ hash: used.transactionHash });
          const { transactionHash: transaction, blockNumber } = receipt;
          if (!isPaid(receipt, authorization)) return { kind: 'spent', transaction, blockNumber };
          const isOurs = relayers.some((relayer) => isAddressEqual(receipt.from, relayer));
          return { kind: 'paid', transaction, blockNumber, isOurs };
        }
        const [cancelled] = await events('AuthorizationCanceled', range);
        if (cancelled === undefined) return undefined;
        const { transactionHash: transaction, blockNumber } = cancelled;
        return { kind: 'spent', transaction, blockNumber };
      },
    );
  }

  /**
   * Whether an authorization was used so long ago that the log must show it, if it was within the blocks that `findUse` searches. False if
   * the RPC cannot answer.
   */
  async function isLongUsed(authorization: TransferAuthorization): Promise<boolean> {
    const { number } = await head();
    if (number < LOG_LAG_BLOCKS) return false;
    return isNonceUsed(authorization, number - LOG_LAG_BLOCKS).catch((error: unknown) => {
      if (isUnreachable(error)) throw error;
      return false;
    });
  }

  return { isNonceUsed, findUse, isLongUsed };
}
