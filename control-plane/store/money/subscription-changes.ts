// Changes that an operator makes to a subscription: another number, more days, its end.
import { sql } from 'kysely';
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { REASSIGNED_QUARANTINE_DAYS, shortenedExpiry } from '../../domain/subscription.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { endHolding, keepFormerCard } from '../fleet/holdings.ts';
import { isAvailable, lockReservations, pickAvailable } from '../fleet/number-pool.ts';
import { closeTakenBack } from './payment-events.ts';
import { changed, orderRefunds, type RefundDecision } from './subscription-refunds.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** `number` and `expires_at`, the end: refused if the subscription has others, which the operator did not see. */
interface Target {
  id: string;
  number?: string | undefined;
  expires_at?: Date | undefined;
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
  const number =
    to === undefined ? await pickAvailable(trx, now) : await findSellable(trx, { number: to, id, now });
  if (number === undefined)
    throw new OperatorRefusal(
      'No number can be sold at the moment. The list of numbers says why. Release a number from quarantine, or end the subscription with a refund.',
    );
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
      quarantined_until: new Date(now.getTime() + REASSIGNED_QUARANTINE_DAYS * DAY_MS),
    })
    .where('number', '=', from)
    .execute();
  return { from, to: number };
}

/** Adds days to a subscription. Resolves with its new end. Throws `OperatorRefusal` if it is over, or is not the one of the target. */
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
 * number is kept for the grace period. Resolves with the new end. A repetition would remove the years that are left: `expires_at` of the
 * target prevents it. Runs in the transaction `trx`. Throws `OperatorRefusal` if the subscription is over, or is not the one of the target.
 */
export async function endSubscription(trx: Database, target: Target, now: Date): Promise<Date> {
  const { id } = target;
  const active = await lockActive(trx, target, now);
  const unpaid = await closeTakenBack(trx, id, 'an operator removed its year', now);
  const left = unpaid.length === 0 ? now : shortenedExpiry(active.expires_at, unpaid.length);
  if (left <= now) {
    await endNow(trx, id, now);
    return now;
  }
  for (const { paid_from } of unpaid) await moveYearsAfter(trx, id, paid_from);
  await trx.updateTable('subscriptions').set({ expires_at: left }).where('id', '=', id).execute();
  return left;
}

/**
 * Ends a subscription, if it is not over yet, and decides on the refund of its payments. Resolves with its end. Throws `OperatorRefusal` if
 * the subscription is not the one of the plan any more.
 */
export async function endWithRefund(
  trx: DatabaseTransaction,
  { id, number }: Target,
  { expires_at, shares }: RefundDecision,
  { reason, now }: { reason: string; now: Date },
): Promise<Date> {
  const row = await trx
    .selectFrom('subscriptions')
    .select(['number', 'expires_at'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const isSame = row?.expires_at.getTime() === expires_at.getTime();
  if (row === undefined || !isSame || (number !== undefined && row.number !== number)) throw changed(id);
  const isOver = row.expires_at <= now;
  const endedAt = isOver ? row.expires_at : now;
  await orderRefunds(trx, { id, endedAt, shares, reason, now });
  if (!isOver) await endNow(trx, id, now);
  return endedAt;
}

/** Nothing is left of the years that were paid. */
async function endNow(trx: Database, id: string, now: Date): Promise<void> {
  await trx.updateTable('subscriptions').set({ expires_at: now }).where('id', '=', id).execute();
  await trx
    .updateTable('payments')
    .set({
      paid_from: sql<Date>`least(paid_from, ${now}::timestamptz)`,
      paid_until: now,
    })
    .where('subscription_id', '=', id)
    .where('paid_until', '>', now)
    .execute();
}

/** The years after one that was not paid begin a year earlier. */
async function moveYearsAfter(trx: Database, id: string, from: Date | null): Promise<void> {
  if (from === null) return;
  const yearEarlier = (column: 'paid_from' | 'paid_until') =>
    sql<Date>`(${sql.ref(column)} at time zone 'UTC' - interval '1 year') at time zone 'UTC'`;
  await trx
    .updateTable('payments')
    .set({ paid_from: yearEarlier('paid_from'), paid_until: yearEarlier('paid_until') })
    .where('subscription_id', '=', id)
    .where('paid_from', '>', from)
    .execute();
}

/** Throws `OperatorRefusal` if the subscription is over, or has another number or end. */
async function lockActive(trx: Database, { id, number, expires_at: end }: Target, now: Date) {
  const row = await trx
    .selectFrom('subscriptions')
    .select(['number', 'created_at', 'expires_at'])
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row === undefined) throw new OperatorRefusal(`There is no active subscription ${id}.`);
  if (number !== undefined && row.number !== number)
    throw new OperatorRefusal(`${id} has another number now. Check it, then try again.`);
  if (end !== undefined && row.expires_at.getTime() !== end.getTime())
    throw new OperatorRefusal(`${id} ends at another time now. Check it, then try again.`);
  return row;
}

async function findSellable(
  trx: DatabaseTransaction,
  { number, id, now }: { number: string; id: string; now: Date },
): Promise<string> {
  const row = await trx
    .selectFrom('numbers')
    .select('number')
    .where('number', '=', number)
    .where((eb) => isAvailable(eb, now))
    .forUpdate()
    .executeTakeFirst();
  if (row !== undefined) return row.number;
  const holder = await trx
    .selectFrom('subscriptions')
    .select('id')
    .where('number', '=', number)
    .executeTakeFirst();
  if (holder?.id === id) throw new OperatorRefusal(`${id} already has the number ${number}.`);
  const why = holder === undefined ? 'cannot be sold at the moment' : 'belongs to another subscriber';
  throw new OperatorRefusal(
    `${number} ${why}. See "${ownCommand('control-plane')} number list --state available".`,
  );
}
