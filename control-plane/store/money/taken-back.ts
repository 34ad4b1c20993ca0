// Payments that a reorganisation took back, whose years nothing paid for.
import type { Database } from '../database/database.ts';
import { movePayment } from './payment-events.ts';

/** `taken_back` → `void`, of a subscription's payments, in a transaction. Resolves with how many years they had bought. */
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
  // No transfer: there is nothing that an operator could send back.
  const closed = { state: 'void', transfer_hash: null, failure: why, updated_at: now } as const;
  for (const { id } of payments) await movePayment(trx, id, ['taken_back'], closed);
  return payments.length;
}
