// Who holds the number of a SIM when a call begins.
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { isCallOfHolding } from './holdings.ts';

/** The number of a SIM and who holds it: a call that began before they held it was not for them. */
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
