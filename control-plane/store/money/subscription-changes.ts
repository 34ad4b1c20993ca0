// Changes that an operator makes to a subscription: another number, more days, its end.
import { OperatorRefusal } from '../../domain/refusal.ts';
import { shortenedExpiry } from '../../domain/subscription.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { endHolding, keepFormerCard } from '../fleet/holdings.ts';
import { isAvailable, lockReservations, pickAvailable } from '../fleet/number-pool.ts';
import { closeTakenBack } from './payment-events.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Codes for the customer may come to the former number for this long. */
const QUARANTINE_DAYS = 90;

/** `number`: refused if the subscription has another one, which the operator did not see. */
interface Target {
  id: string;
  number?: string | undefined;
}

/**
 * Gives a subscription another number that can be sold: `to`, or any. Its texts and calls stay. The former number is out of service with the
 * reason, and in quarantine. Runs in the transaction `trx`. Throws `OperatorRefusal` if the subscription is over, or the number cannot be sold.
 */
export async function reassignNumber(
  trx: DatabaseTransaction,
  { to, reason, now, ...target }: Target & { to?: string | undefined; reason: string; now: Date },
): Promise<{ from: string; to: string }> {
  await lockReservations(trx);
  const { id } = target;
  const { number: from, created_at } = await lockActive(trx, target, now);
  const number = to === undefined ? await pickAvailable(trx, now) : await findSellable(trx, to, now);
  if (number === undefined) throw new OperatorRefusal('no number can be sold at the moment');
  await keepFormerCard(trx, { number: from, now });
  await endHolding(trx, { number: from, from: created_at, now });
  // Texts that came to the new number before are not this customer's.
  await endHolding(trx, { number, from: now, now });
  await trx.updateTable('subscriptions').set({ number }).where('id', '=', id).execute();
  await trx
    .updateTable('numbers')
    .set({
      out_of_service_at: now,
      out_of_service_reason: `reassigned: ${reason}`,
      quarantined_until: new Date(now.getTime() + QUARANTINE_DAYS * DAY_MS),
    })
    .where('number', '=', from)
    .execute();
  return { from, to: number };
}

/** Adds days to a subscription. Resolves with its new end. Throws `OperatorRefusal` if it is over. */
export async function extendByDays(
  trx: DatabaseTransaction,
  { days, now, ...target }: Target & { days: number; now: Date },
): Promise<Date> {
  const { expires_at } = await lockActive(trx, target, now);
  const end = new Date(expires_at.getTime() + days * DAY_MS);
  await trx.updateTable('subscriptions').set({ expires_at: end }).where('id', '=', target.id).execute();
  return end;
}

/**
 * Removes the years whose payments the chain reverted; if there are none, all years. If nothing is left, its tokens are rejected, and the
 * number is kept for the grace period. Resolves with the new end. Runs in the transaction `trx`. Throws `OperatorRefusal` if the
 * subscription is over.
 */
export async function endSubscription(trx: Database, target: Target, now: Date): Promise<Date> {
  const { id } = target;
  const active = await lockActive(trx, target, now);
  const years = await closeTakenBack(trx, id, 'an operator removed its year', now);
  const left = years === 0 ? now : shortenedExpiry(active.expires_at, years);
  const expiresAt = left > now ? left : now;
  await trx.updateTable('subscriptions').set({ expires_at: expiresAt }).where('id', '=', id).execute();
  return expiresAt;
}

/** Throws `OperatorRefusal` if the subscription is over or has another number. */
async function lockActive(trx: Database, { id, number }: Target, now: Date) {
  const row = await trx
    .selectFrom('subscriptions')
    .select(['number', 'created_at', 'expires_at'])
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row === undefined) throw new OperatorRefusal(`there is no active subscription ${id}`);
  if (number !== undefined && row.number !== number)
    throw new OperatorRefusal(`${id} has another number now: load the page again`);
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
