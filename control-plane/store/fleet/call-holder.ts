// Finds the subscription that holds the number of a SIM when a call begins.
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { isCallOfHolding } from './holdings.ts';

/** The number of a SIM and its subscription. A call that began before the subscription is not its call. */
export async function holderOfSim(
  db: Database | DatabaseTransaction,
  iccid: string,
  startedAt: Date,
): Promise<{ number: string | null; subscriptionId: string | null }> {
  const row = await db
    .selectFrom('numbers')
    .leftJoin('subscriptions', (join) =>
      join.onRef('subscriptions.number', '=', 'numbers.number').on(isCallOfHolding(startedAt)),
    )
    .select(['numbers.number', 'subscriptions.id as subscriptionId'])
    .where('numbers.iccid', '=', iccid)
    .where('numbers.retired_at', 'is', null)
    .executeTakeFirst();
  return row ?? { number: null, subscriptionId: null };
}
