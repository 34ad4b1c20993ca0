// Payments that a reorganization reverted: their years are unpaid.
import type { Database } from '../database/database.ts';
import { movePayment } from './payment-events.ts';

/** Moves a subscription's payments from `taken_back` to `void`, in a transaction. Resolves with how many years they had bought. */
export async function closeTakenBack(
  trx: Database,
  subscriptionId: string,
  why: string,
  now: Date,
): Promise<number> {
  const payments = await trx
    .selectFrom('payments')
    .select('id')
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'taken_back')
    .forUpdate()
    .execute();
  // There was no transfer, so there is nothing to refund.
  const closed = { state: 'void', transfer_hash: null, failure: why, updated_at: now } as const;
  for (const { id } of payments) await movePayment(trx, id, ['taken_back'], closed);
  return payments.length;
}
