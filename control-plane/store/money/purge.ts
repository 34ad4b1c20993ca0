// The end of a subscription: its data is deleted, and its number returns to the pool after quarantine.
import { type ExpressionBuilder, expressionBuilder, sql } from 'kysely';
import { keepEarnings } from '../cards/month-earnings.ts';
import type { Database } from '../database/database.ts';
import { deleteChosen } from '../database/lists.ts';
import type { Tables } from '../database/tables.ts';
import { endByNow, endHolding } from '../fleet/holdings.ts';

/** Nothing is deleted before housekeeping has found a subscription past its grace period for this long. */
const LAPSED_MS = 60 * 60 * 1000;

/** Limit of one round; the next one continues. */
const SUBSCRIPTIONS_MAX = 100;
const ROWS_MAX = 10_000;

/**
 * Purges subscriptions whose grace period is over, and returns their ids. A subscription with a payment that may still be applied stays. A
 * single reading of the clock is not trusted: the clock may be set back within the hour.
 *
 * Messages, calls and receipts are deleted first, then the rest together with the number. The process may die after any step, and other instances may
 * do the same work.
 */
export async function purgeLapsed(
  db: Database,
  { graceMs, quarantineMs = 0, now }: { graceMs: number; quarantineMs?: number; now: Date },
): Promise<string[]> {
  const expiredAt = new Date(now.getTime() - graceMs);
  await noteLapsed(db, expiredAt, now);
  await endByNow(db, now);
  const purged: string[] = [];
  let rowsLeft = ROWS_MAX;
  for (const id of await findLapsed(db, expiredAt, now)) {
    rowsLeft -= await deleteRows(db, 'messages', id, { expiredAt, limit: rowsLeft });
    if (rowsLeft === 0) break;
    rowsLeft -= await deleteRows(db, 'calls', id, { expiredAt, limit: rowsLeft });
    if (rowsLeft === 0) break;
    rowsLeft -= await deleteRows(db, 'receipts', id, { expiredAt, limit: rowsLeft });
    if (rowsLeft === 0) break;
    const quarantinedUntil = quarantineMs === 0 ? null : new Date(now.getTime() + quarantineMs);
    if (await deleteSubscription(db, id, { expiredAt, quarantinedUntil, now })) purged.push(id);
  }
  return purged;
}

/** A subscription that was paid since, or that only a fast clock found lapsed, starts the hour again. */
async function noteLapsed(db: Database, expiredAt: Date, now: Date): Promise<void> {
  await sql`
    update subscriptions
    set lapsed_at = case when expires_at <= ${expiredAt} then ${now}::timestamptz end
    where case when expires_at <= ${expiredAt} then lapsed_at is null or lapsed_at > ${now}
      else lapsed_at is not null end`.execute(db);
}

async function findLapsed(db: Database, expiredAt: Date, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('subscriptions')
    .select('id')
    .where('lapsed_at', '<=', new Date(now.getTime() - LAPSED_MS))
    .where((eb) => mayBePurged(eb, expiredAt))
    .orderBy('lapsed_at')
    .limit(SUBSCRIPTIONS_MAX)
    .execute();
  return rows.map(({ id }) => id);
}

async function deleteRows(
  db: Database,
  table: 'messages' | 'calls' | 'receipts',
  subscriptionId: string,
  { expiredAt, limit }: { expiredAt: Date; limit: number },
): Promise<number> {
  const key = table === 'receipts' ? 'position' : 'id';
  const chosen = sql`
    select ${sql.ref(`${table}.${key}`)} from ${sql.table(table)}
    join subscriptions on subscriptions.id = ${sql.ref(`${table}.subscription_id`)}
    where subscriptions.id = ${subscriptionId} and ${mayBePurged(expressionBuilder<Tables, 'subscriptions'>(), expiredAt)}
    limit ${limit} for update of ${sql.table(table)} skip locked`;
  return deleteChosen(db, { table, key }, chosen);
}

/**
 * Deletes a subscription with its tokens and with calls that came since. False when it was paid meanwhile, has messages again or is gone.
 */
async function deleteSubscription(
  db: Database,
  id: string,
  { expiredAt, quarantinedUntil, now }: { expiredAt: Date; quarantinedUntil: Date | null; now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // Payments that claim or extend it, and incoming messages, lock its row: the statements below see what they wrote.
    await trx.selectFrom('subscriptions').select('id').where('id', '=', id).forUpdate().execute();
    const formerCards = await trx
      .selectFrom('former_cards')
      .select(['iccid', 'until'])
      .where('subscription_id', '=', id)
      .execute();
    const deleted = await trx
      .deleteFrom('subscriptions')
      .where('id', '=', id)
      .where((eb) => mayBePurged(eb, expiredAt))
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('messages').select('id').whereRef('subscription_id', '=', 'subscriptions.id'))),
      )
      .returning(['number', 'created_at'])
      .executeTakeFirst();
    if (deleted === undefined) return false;
    await keepEarnings(trx, { id, number: deleted.number }, now);
    await endHolding(trx, { number: deleted.number, from: deleted.created_at, now });
    await trx
      .updateTable('numbers')
      .set({ quarantined_until: quarantinedUntil })
      .where('number', '=', deleted.number)
      .execute();
    await trx
      .deleteFrom('unreadable_messages')
      .where('iccid', 'in', (sims) =>
        sims.selectFrom('numbers').select('iccid').where('number', '=', deleted.number),
      )
      .execute();
    for (const { iccid, until } of formerCards)
      await trx
        .deleteFrom('unreadable_messages')
        .where('iccid', '=', iccid)
        .where('received_at', '<=', until)
        .execute();
    return true;
  });
}

/**
 * Past its grace period, and without an open payment of its wallet. A rejected payment moves no money by itself: if someone sends it later,
 * it buys another number.
 */
function mayBePurged(eb: ExpressionBuilder<Tables, 'subscriptions'>, expiredAt: Date) {
  const unfinished = eb
    .selectFrom('payments')
    .select('payments.id')
    .whereRef('payments.payer', '=', 'subscriptions.wallet')
    .where((payment) =>
      payment.or([
        payment('payments.state', 'in', ['claimed', 'in_flight']),
        payment.and([
          payment('payments.state', '=', 'reverted'),
          payment('payments.transfer_hash', 'is not', null),
        ]),
      ]),
    );
  return eb.and([eb('subscriptions.expires_at', '<=', expiredAt), eb.not(eb.exists(unfinished))]);
}
