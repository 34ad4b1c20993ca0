// Bearer tokens (hashes only) and single-use nonces.
import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { deleteChosen, inBatches } from '../database/lists.ts';

export async function insertToken(
  db: Database | DatabaseTransaction,
  token: { hash: Buffer; subscriptionId: string; now: Date },
): Promise<void> {
  await db
    .insertInto('tokens')
    .values({ hash: token.hash, subscription_id: token.subscriptionId, created_at: token.now })
    // The same payment, presented again by its payer, may have stored its token first.
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
}

/** Changes of a subscription's tokens take turns: two recoveries at once must leave one token. */
export async function lockTokens(trx: DatabaseTransaction, subscriptionId: string): Promise<void> {
  await trx
    .selectFrom('subscriptions')
    .select('id')
    .where('id', '=', subscriptionId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/**
 * Revokes every token of a subscription and stores the one that replaces them. Its time is not before that of any payment so far, whatever
 * clock that had: a payment that is presented again brings no revoked token back.
 */
export async function replaceTokens(
  db: Database,
  token: { hash: Buffer; subscriptionId: string; now: Date },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockTokens(trx, token.subscriptionId);
    await trx.deleteFrom('tokens').where('subscription_id', '=', token.subscriptionId).execute();
    const { paidAt } = await trx
      .selectFrom('payments')
      .select(({ fn }) => fn.max('created_at').as('paidAt'))
      .where('subscription_id', '=', token.subscriptionId)
      .executeTakeFirstOrThrow();
    await insertToken(trx, { ...token, now: new Date(Math.max(Number(token.now), Number(paidAt))) });
  });
}

export async function insertNonce(db: Database, nonce: string, expiresAt: Date): Promise<void> {
  await db.insertInto('nonces').values({ nonce, expires_at: expiresAt }).execute();
}

/** Consumes a nonce in one statement. False when it was never issued, is used, or has expired. */
export async function consumeNonce(db: Database, nonce: string, now: Date): Promise<boolean> {
  const row = await db
    .deleteFrom('nonces')
    .where('nonce', '=', nonce)
    .returning('expires_at')
    .executeTakeFirst();
  return row !== undefined && row.expires_at > now;
}

export async function deleteExpiredNonces(db: Database, now: Date): Promise<void> {
  await inBatches((limit) =>
    deleteChosen(
      db,
      { table: 'nonces', key: 'nonce' },
      sql`select nonce from nonces where expires_at <= ${now} order by expires_at limit ${limit}`,
    ),
  );
}
