// Subscriptions by wallet and by token; their binding to the node that holds the SIM.
import { randomBytes } from 'node:crypto';
import type { Subscription } from '../domain/subscription.ts';
import { extendedExpiry } from '../domain/subscription.ts';
import type { Database, DatabaseTransaction } from './database.ts';
import type { SubscriptionsTable } from './tables.ts';

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

/**
 * Makes the wallet's subscription on `number`, or extends the one it has. Two payments of one wallet are
 * two years, whichever is applied first.
 */
export async function extendOrCreate(
  trx: DatabaseTransaction,
  payment: { wallet: string; number: string | undefined; now: Date },
): Promise<{ subscription: Subscription; renewed: boolean }> {
  const wallet = payment.wallet.toLowerCase();
  if (payment.number !== undefined) {
    const created = await trx
      .insertInto('subscriptions')
      .values({
        id: `sub_${randomBytes(12).toString('hex')}`,
        wallet,
        number: payment.number,
        created_at: payment.now,
        expires_at: extendedExpiry(undefined, payment.now),
        bound_at: null,
      })
      .onConflict((conflict) => conflict.column('wallet').doNothing())
      .returningAll()
      .executeTakeFirst();
    if (created !== undefined) return { subscription: toSubscription(created), renewed: false };
  }
  const current = await trx
    .selectFrom('subscriptions')
    .selectAll()
    .where('wallet', '=', wallet)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const expiresAt = extendedExpiry(current.expires_at, payment.now);
  await trx
    .updateTable('subscriptions')
    .set({ expires_at: expiresAt })
    .where('id', '=', current.id)
    .execute();
  return { subscription: toSubscription({ ...current, expires_at: expiresAt }), renewed: true };
}

/** Subscriptions that wait for a node to confirm them, whose SIM the node says it holds. */
export async function findUnbound(
  db: Database,
  nodeId: string,
): Promise<Array<{ id: string; iccid: string }>> {
  return db
    .selectFrom('subscriptions')
    .innerJoin('numbers', 'numbers.number', 'subscriptions.number')
    .innerJoin('sims', 'sims.iccid', 'numbers.iccid')
    .select(['subscriptions.id', 'numbers.iccid'])
    .where('subscriptions.bound_at', 'is', null)
    .where('sims.node_id', '=', nodeId)
    .where('sims.state', '=', 'registered')
    .execute();
}

export async function setBound(db: Database, subscriptionId: string, now: Date): Promise<void> {
  await db.updateTable('subscriptions').set({ bound_at: now }).where('id', '=', subscriptionId).execute();
}

function toSubscription(row: SubscriptionsTable): Subscription {
  return {
    id: row.id,
    wallet: row.wallet,
    number: row.number,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    boundAt: row.bound_at ?? undefined,
  };
}
