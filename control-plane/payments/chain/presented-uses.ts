// Remembers how authorizations were used. Anyone may present a canceled one again and again, and each search reads a day of blocks.
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import type { AuthorizedTransfer, TransferAuthorization } from '../../domain/transfer-authorization.ts';
import type { authorizationUses, Use } from './authorization-use.ts';
import type { blocksOf } from './blocks.ts';

/** Each one costs its author a transaction. */
const REMEMBERED_MAX = 10_000;

/** After this time the log is searched again: an RPC may have answered for a node without it. */
const LOG_MISSING_MS = 10 * 60_000;

/**
 * How a used authorization was used. `long_used`: so long ago that the log would show it, within the searched blocks. Undefined if the log
 * may lag.
 */
type PresentedUse = Use | 'long_used' | undefined;

interface PresentedUsesParts
  extends Pick<ReturnType<typeof authorizationUses>, 'findUse' | 'isLongUsed'>,
    Pick<ReturnType<typeof blocksOf>, 'safeBlock'> {
  clock: Clock;
}

export function presentedUses({ clock, findUse, isLongUsed, safeBlock }: PresentedUsesParts) {
  const answers = new LRUCache<string, Exclude<PresentedUse, undefined>>({
    max: REMEMBERED_MAX,
    perf: { now: () => clock.now() },
    ttlResolution: 0,
  });
  const searches = new Map<string, Promise<PresentedUse>>();

  async function search(key: string, authorization: TransferAuthorization): Promise<PresentedUse> {
    const use = await findUse(authorization);
    if (use === undefined) {
      if (!(await isLongUsed(authorization))) return undefined;
      answers.set(key, 'long_used', { ttl: LOG_MISSING_MS });
      return 'long_used';
    }
    // A reorganization can still revert a newer one.
    if (use.blockNumber <= (await safeBlock()).number) answers.set(key, use);
    return use;
  }

  /** For an authorization that the token reports as used. Searches once for all that ask meanwhile, and not again for a final answer. */
  async function findPresentedUse(authorization: TransferAuthorization): Promise<PresentedUse> {
    const key = keyOf(authorization);
    const known = answers.get(key);
    if (known !== undefined) return known;
    const searching = searches.get(key) ?? search(key, authorization).finally(() => searches.delete(key));
    searches.set(key, searching);
    return searching;
  }

  return { findPresentedUse };
}

/** The validity period and the signature do not matter: they can be varied, and the use stays the same. */
const keyOf = ({ asset, from, nonce, to, value }: AuthorizedTransfer): string =>
  [asset, from, nonce, to, value].join(' ').toLowerCase();
