// How much of the journal and of the link one SIM may use: a flood of its texts must not hold up the other SIMs of the rack.
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import { SIM_FACTS } from '#shared/link/messages.ts';
import { TokenBucket } from '#shared/token-bucket.ts';
import { type Journal, JournalUnavailableError } from '../../journal/journal.ts';

/** More SIMs than a host serves in years. */
const SIMS_MAX = 1_024;

/** By journal, because a modem may begin a new session at any time. */
const byJournal = new WeakMap<Journal, LRUCache<string, TokenBucket>>();

/** Counts a message that this SIM has received. Throws `JournalUnavailableError` beyond its share: the message stays where it is. */
export function takeShare(iccid: string, { journal, clock }: { journal: Journal; clock: Clock }): void {
  const { burst } = SIM_FACTS;
  if (journal.state.facts.countOf(iccid) >= burst)
    throw new JournalUnavailableError(`${burst} facts of this SIM are already waiting for the control plane`);
  const buckets = byJournal.get(journal) ?? new LRUCache({ max: SIMS_MAX });
  byJournal.set(journal, buckets);
  const bucket = buckets.get(iccid) ?? new TokenBucket(clock, SIM_FACTS);
  buckets.set(iccid, bucket);
  if (!bucket.tryTake())
    throw new JournalUnavailableError('this SIM receives messages faster than any network sends them');
}
