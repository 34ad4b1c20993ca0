// Decides when an unused or used authorization can never move money any more, even if no block shows what it was used for.
import type { AuthorizedTransfer, TransferAuthorization } from '../../domain/transfer-authorization.ts';
import type { Chain } from './chain.ts';
import { isUnreachable } from './rpc.ts';

/** The use of an authorization is searched for this long after its end. */
export const SEARCHED_S = 24n * 60n * 60n;

/** Longer after it the log is not searched so far back: that it shows nothing proves nothing. */
export const LOG_KEPT_S = 30n * SEARCHED_S;

/** If an RPC keeps no state of its safe block, the newest block is used this long after the authorization ended. */
const STATELESS_WAIT_S = 60n * 60n;

/** A block of the chain as it is now. `timestamp`: seconds since the Unix epoch. */
export type Block = Awaited<ReturnType<Chain['head']>>;

/**
 * Whether the authorization was unused at its end, in a block that no reorganization can revert. Call it only if the newest block shows the
 * authorization unused. Rejects when the RPC cannot be reached.
 */
export async function endedUnused(
  chain: Pick<Chain, 'isNonceUsed'>,
  authorization: AuthorizedTransfer & Pick<TransferAuthorization, 'validBefore'>,
  { head, safe }: { head: Block; safe: Block },
): Promise<boolean> {
  if (safe.timestamp < authorization.validBefore) return false;
  try {
    return !(await chain.isNonceUsed(authorization, safe.number));
  } catch (error) {
    if (isUnreachable(error)) throw error;
    return head.timestamp >= authorization.validBefore + STATELESS_WAIT_S;
  }
}
