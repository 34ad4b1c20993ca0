// The common part of committing facts from a link and facts that waited for their SIM.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import type { Database, DatabaseTransaction } from '../store/database/database.ts';
import { countUnheld } from '../store/fleet/node-links.ts';
import { hasDueFacts, type KeyedFact, takeWaitingFacts } from '../store/fleet/waiting-facts.ts';
import { emitFactMetrics } from './fact-metrics.ts';
import { applyFacts } from './facts.ts';

interface CommitParts {
  db: Database;
  bus: Bus;
  clock: Clock;
  log: Logger;
}

/** Applies the facts that `takeFacts` returns, in the same transaction. Then counts them and publishes the changes. */
export async function commitFacts(
  { db, bus, clock, log }: CommitParts,
  nodeId: string,
  takeFacts: (trx: DatabaseTransaction, now: () => Date) => Promise<readonly KeyedFact[]>,
): Promise<void> {
  const now = (): Date => new Date(clock.now());
  const { facts, events, unassigned } = await db.transaction().execute(async (trx) => {
    const facts = await takeFacts(trx, now);
    const { events, ...unassigned } = await applyFacts(trx, facts, now());
    const count = unassigned.unheld + unassigned.undated;
    if (count > 0) await countUnheld(trx, nodeId, count);
    return { facts, events, unassigned };
  });
  const { unheld, undated } = unassigned;
  if (unheld + undated > 0) log.warn({ unheld, undated }, 'messages discarded: number not sold when sent');
  emitFactMetrics(
    facts.map(({ fact }) => fact),
    { events, ...unassigned },
  );
  for (const event of events) bus.publish(event);
}

/** Applies the waiting facts of SIMs that the node now holds. Costs one query if there are none. */
export async function commitWaitingFacts(parts: CommitParts, nodeId: string): Promise<void> {
  if (!(await hasDueFacts(parts.db, nodeId))) return;
  await commitFacts(parts, nodeId, (trx, now) => takeWaitingFacts(trx, nodeId, now()));
}
