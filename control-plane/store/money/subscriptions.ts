// Subscriptions by wallet and by token, and the year that a payment adds.
import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Subscription } from '../../domain/subscription.ts';
import { extendedExpiry } from '../../domain/subscription.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { SubscriptionsTable } from '../database/tables.ts';
import { closeTakenBack } from './payment-events.ts';

export async function findSubscriptionByWallet(
  db: Database,
  wallet: string,
): Promise<Subscription | undefined> {
  const row = await db
    .selectFrom('subscriptions')
    .selectAll()
    .where('wallet', '=', wallet.toLowerCase())
    .executeTakeFirst();
  return row && toSubscription(row);
}

export async function findSubscriptionByToken(db: Database, hash: Buffer): Promise<Subscription | undefined> {
  const row = await db
    .selectFrom('tokens')
    .innerJoin('subscriptions', 'subscriptions.id', 'tokens.subscription_id')
    .selectAll('subscriptions')
    .where('tokens.hash', '=', hash)
    .executeTakeFirst();
  return row && toSubscription(row);
}

/** Creates the wallet's subscription on `number`, or extends its present one. Two payments of one wallet are two years, in either order. `paidFrom`: the start of the year. */
export async function extendOrCreate(
  trx: DatabaseTransaction,
  payment: { wallet: string; number: string | undefined; accountChainId: number | null; now: Date },
): Promise<{ subscription: Subscription; renewed: boolean; paidFrom: Date }> {
  const wallet = payment.wallet.toLowerCase();
  if (payment.number !== undefined) {
    const created = await trx
      .insertInto('subscriptions')
      .values({
        id: `sub_${randomBytes(12).toString('hex')}`,
        wallet,
        number: payment.number,
        account_chain_id: payment.accountChainId,
        created_at: payment.now,
        expires_at: extendedExpiry(undefined, payment.now),
      })
      .onConflict((conflict) => conflict.column('wallet').doNothing())
      .returningAll()
      .executeTakeFirst();
    if (created !== undefined)
      return { subscription: toSubscription(created), renewed: false, paidFrom: payment.now };
  }
  const current = await trx
    .selectFrom('subscriptions')
    .selectAll()
    .where('wallet', '=', wallet)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const isOver = current.expires_at <= payment.now;
  if (isOver) await closeTakenBack(trx, current.id, 'the year that it did not pay for is over', payment.now);
  const expiresAt = extendedExpiry(current.expires_at, payment.now);
  await trx
    .updateTable('subscriptions')
    .set({ expires_at: expiresAt })
    .where('id', '=', current.id)
    .execute();
  return {
    subscription: toSubscription({ ...current, expires_at: expiresAt }),
    renewed: true,
    paidFrom: isOver ? payment.now : current.expires_at,
  };
}

export function toSubscription(row: Selectable<SubscriptionsTable>): Subscription {
  return {
    id: row.id,
    wallet: row.wallet,
    number: row.number,
    accountChainId: row.account_chain_id ?? undefined,
    expiresAt: row.expires_at,
  };
}
