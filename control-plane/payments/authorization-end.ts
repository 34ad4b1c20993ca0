// When an authorization can never move money any more, though no block shows what it was used for.

import type { AuthorizedTransfer, TransferAuthorization } from '../domain/transfer-authorization.ts';
import type { Chain } from './chain/chain.ts';
import { isUnreachable } from './chain/rpc.ts';

/** So long after its end its use is no longer searched: the log that is searched goes no further back. */
export const SEARCHED_S = 24n * 60n * 60n;

/** Where an RPC keeps no state of its safe block, the newest block counts so long after the authorization ended. */
const STATELESS_WAIT_S = 60n * 60n;

/** A block that the chain has now. `timestamp`: seconds since the Unix epoch. */
export type Block = Awaited<ReturnType<Chain['head']>>;

/**
 * True when the authorization was unused as it ended, in a block that no reorganisation takes back. For one that the newest block has
 * unused. Rejects when the RPC cannot be reached.
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
