// Facts that came before their SIM was the node's, once it is.
import type { Clock } from '#shared/clock.ts';
import type { Bus } from '../bus/bus.ts';
import type { Database } from '../store/database.ts';
import { countUnheld } from '../store/node-links.ts';
import { hasDueFacts, takeWaitingFacts } from '../store/waiting-facts.ts';
import { applyFacts } from './facts.ts';
import { observeFacts } from './observed-facts.ts';

/** Applies those of all SIMs that the node holds now. Costs one query where there are none. */
export async function applyWaitingFacts(
  { db, bus, clock }: { db: Database; bus: Bus; clock: Clock },
  nodeId: string,
): Promise<void> {
  if (!(await hasDueFacts(db, nodeId))) return;
  const { facts, ...applied } = await db.transaction().execute(async (trx) => {
    const now = new Date(clock.now());
    const facts = await takeWaitingFacts(trx, nodeId, now);
    const applied = await applyFacts(trx, facts, now);
    const unassigned = applied.unheld + applied.undated;
    if (unassigned > 0) await countUnheld(trx, nodeId, unassigned);
    return { facts, ...applied };
  });
  observeFacts(
    facts.map(({ fact }) => fact),
    applied,
  );
  for (const event of applied.events) bus.publish(event);
}
