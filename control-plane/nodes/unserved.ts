// Why a number that is bound to no SIM sends and calls nothing, for its holder.
import { PASSING_STATES } from '#shared/operator/slot-health.ts';
import type { Database } from '../store/database/database.ts';
import { serviceStateOf } from '../store/fleet/sold-numbers.ts';

/** A sentence about the number, and one about the next step. */
export async function whyUnserved(
  db: Database,
  subscriptionId: string,
  now: Date,
): Promise<{ trouble: string; advice: string }> {
  const state = await serviceStateOf(db, subscriptionId, now);
  // It may have been bound meanwhile.
  const isPassing = state === undefined || state === 'registered' || PASSING_STATES.has(state);
  return isPassing
    ? { trouble: 'The number is being provisioned.', advice: 'Try again in a minute.' }
    : { trouble: 'The number has no service now.', advice: 'Try again later, or ask the operator.' };
}
