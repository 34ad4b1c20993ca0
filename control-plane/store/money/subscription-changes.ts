// Changes that an operator makes for a customer whose number died: another number, or more days.
import { OperatorRefusal } from '../../domain/refusal.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { endHolding } from '../fleet/holdings.ts';
import { isAvailable, lockReservations, pickAvailable } from '../fleet/number-pool.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Gives a subscription another number that can be sold: `to`, or any. Its texts and calls stay. The former number is out of service with the
 * reason. Runs in the transaction `trx`. Throws `OperatorRefusal` if the subscription is over, or the number cannot be sold.
 */
export async function reassignNumber(
  trx: DatabaseTransaction,
  { id, to, reason, now }: { id: string; to: string | undefined; reason: string; now: Date },
): Promise<{ from: string; to: string }> {
  await lockReservations(trx);
  const { number: from, created_at } = await lockActive(trx, id, now);
  const number = to === undefined ? await pickAvailable(trx, now) : await findSellable(trx, to, now);
  if (number === undefined) throw new OperatorRefusal('no number can be sold at the moment');
  await endHolding(trx, { number: from, from: created_at, now });
  // Texts that came to the new number before are not this customer's.
  await endHolding(trx, { number, from: now, now });
  await trx.updateTable('subscriptions').set({ number }).where('id', '=', id).execute();
  await trx
    .updateTable('numbers')
    .set({ out_of_service_at: now, out_of_service_reason: `reassigned: ${reason}` })
    .where('number', '=', from)
    .execute();
  return { from, to: number };
}

/** Adds days to a subscription. Resolves with its new end. Throws `OperatorRefusal` if it is over. */
export async function extendByDays(
  trx: DatabaseTransaction,
  { id, days, now }: { id: string; days: number; now: Date },
): Promise<Date> {
  const { expires_at } = await lockActive(trx, id, now);
  const end = new Date(expires_at.getTime() + days * DAY_MS);
  await trx.updateTable('subscriptions').set({ expires_at: end }).where('id', '=', id).execute();
  return end;
}

async function lockActive(trx: Database, id: string, now: Date) {
  const row = await trx
    .selectFrom('subscriptions')
    .select(['number', 'created_at', 'expires_at'])
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row === undefined) throw new OperatorRefusal(`there is no active subscription ${id}`);
  return row;
}

async function findSellable(trx: DatabaseTransaction, number: string, now: Date): Promise<string> {
  const row = await trx
    .selectFrom('numbers')
    .select('number')
    .where('number', '=', number)
    .where((eb) => isAvailable(eb, now))
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined)
    throw new OperatorRefusal(`${number} cannot be sold at the moment: see "number list --state available"`);
  return row.number;
}
