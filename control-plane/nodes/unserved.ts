// Why a number that is bound to no SIM sends and calls nothing, for its holder.
import type { ServiceState } from '#shared/operator/slot-health.ts';
import type { Database } from '../store/database/database.ts';
import { findService } from '../store/fleet/sold-numbers.ts';

/** They end by themselves. */
const PASSING: ReadonlySet<ServiceState> = new Set(['unbound', 'registered', 'starting', 'searching']);

/** A sentence about the number, and one about the next step. */
export async function whyUnserved(
  db: Database,
  subscriptionId: string,
  now: Date,
): Promise<{ trouble: string; advice: string }> {
  const state = await findService(db, subscriptionId, now);
  return state === undefined || PASSING.has(state)
    ? { trouble: 'The number is being provisioned.', advice: 'Try again in a minute.' }
    : { trouble: 'The number has no service now.', advice: 'Try again later, or ask the operator.' };
}
