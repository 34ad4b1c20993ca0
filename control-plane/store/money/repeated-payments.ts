// A payment that its payer presents again by a secret name (extension `payment-identifier` of x402).
import { hash } from 'node:crypto';
import type { Hex } from 'viem';
import type { TransferAuthorization } from '../../domain/transfer-authorization.ts';
import type { RepeatedPayment } from '../../payments/payment.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { insertToken, lockTokens } from './credentials.ts';
import { keyOf } from './payment-rows.ts';
import { toSubscription } from './subscriptions.ts';

export const hashIdentifier = (identifier: string): Buffer => hash('sha256', identifier, 'buffer');

/** Another payment of the payer that has moved money, or still may, has this identifier. */
export async function isIdentifierUsed(
  trx: DatabaseTransaction,
  authorization: TransferAuthorization,
  identifierHash: Buffer,
): Promise<boolean> {
  const key = keyOf(authorization);
  const other = await trx
    .selectFrom('payments')
    .select('id')
    .where('payer', '=', key.payer)
    .where('identifier_hash', '=', identifierHash)
    .where('state', 'not in', ['released', 'void'])
    .where((eb) => eb.not(eb.and(key)))
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

export async function findRepeated(
  trx: DatabaseTransaction,
  authorization: TransferAuthorization,
  identifier: string,
): Promise<RepeatedPayment | undefined> {
  const payment = await trx
    .selectFrom('payments')
    .selectAll()
    .where((eb) => eb.and(keyOf(authorization)))
    .where('state', '=', 'applied')
    .where('identifier_hash', 'is not', null)
    .forUpdate()
    .executeTakeFirst();
  if (!payment?.identifier_hash || payment.transfer_hash === null) return undefined;
  if (!payment.identifier_hash.equals(hashIdentifier(identifier))) {
    await trx.updateTable('payments').set({ identifier_hash: null }).where('id', '=', payment.id).execute();
    return undefined;
  }
  const bought = await trx
    .selectFrom('subscriptions')
    .selectAll()
    .where('id', '=', payment.subscription_id)
    .executeTakeFirst();
  return (
    bought && {
      id: payment.id,
      subscription: toSubscription(bought),
      // The payment that bought the subscription was claimed before it existed.
      renewed: bought.created_at < payment.created_at,
      transferHash: payment.transfer_hash as Hex,
      isOurs: payment.transfer_hash === payment.transaction_hash,
      claimedAt: payment.created_at,
    }
  );
}

/**
 * Whether the token of a repeated payment is valid. Stores it if the process that settled the payment died before it could: it was
 * never sent. `canBeNew`: it may be sent now. A later sign-in or payment has left another token, which ends that.
 */
export async function hasToken(
  db: Database,
  token: { hash: Buffer; subscriptionId: string; now: Date },
  { canBeNew, claimedAt }: { canBeNew: boolean; claimedAt: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockTokens(trx, token.subscriptionId);
    const known = await trx
      .selectFrom('tokens')
      .select('hash')
      .where('hash', '=', token.hash)
      .executeTakeFirst();
    if (known !== undefined) return true;
    const later = await trx
      .selectFrom('tokens')
      .select('hash')
      .where('subscription_id', '=', token.subscriptionId)
      .where('created_at', '>=', claimedAt)
      .limit(1)
      .executeTakeFirst();
    if (!canBeNew || later !== undefined) return false;
    await insertToken(trx, token);
    return true;
  });
}
