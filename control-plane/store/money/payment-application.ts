// Applies payments whose money has arrived: each buys a year of a number.
import type { Hex } from 'viem';
import {
  type Applied,
  NumberMissing,
  type PaymentLedger,
  type PaymentState,
} from '../../payments/payment.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { lockReservations, pickAvailable } from '../fleet/number-pool.ts';
import { lockHolder, NEVER_CHECKED } from './payment-claims.ts';
import { addPaymentEvent } from './payment-events.ts';
import { extendOrCreate } from './subscriptions.ts';

/** Its money bought a year, is refunded to the payer, or is kept for good. */
const IS_SPENT: ReadonlySet<PaymentState> = new Set([
  'applied',
  'taken_back',
  'refunding',
  'refunded',
  'closed',
]);

export const paymentApplication = (db: Database): Pick<PaymentLedger, 'apply' | 'noteUnapplied'> => ({
  apply: (id, transferHash, now) => db.transaction().execute((trx) => apply(trx, id, transferHash, now)),

  noteUnapplied: (id, transferHash, failure, now) =>
    db.transaction().execute(async (trx) => {
      const noted = await trx
        .updateTable('payments')
        .set({ transfer_hash: transferHash, failure })
        .where('id', '=', id)
        .where('state', 'in', ['in_flight', 'reverted'])
        .where('transfer_hash', 'is', null)
        .returning('state')
        .executeTakeFirst();
      if (noted === undefined) return;
      const event = { state: noted.state, transactionHash: transferHash, why: failure, at: now };
      await addPaymentEvent(trx, id, event);
    }),
});

async function apply(
  trx: DatabaseTransaction,
  id: string,
  transferHash: Hex,
  now: Date,
): Promise<Applied | undefined> {
  const payment = await trx
    .selectFrom('payments')
    .select(['payer', 'reserved_number', 'state', 'chain_id', 'signed_by'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (IS_SPENT.has(payment.state)) return undefined;
  const number = payment.reserved_number ?? (await numberFor(trx, payment.payer, now));
  const accountChainId = payment.signed_by === 'account' ? payment.chain_id : null;
  const { paidFrom, ...applied } = await extendOrCreate(trx, {
    wallet: payment.payer,
    number,
    accountChainId,
    now,
  });
  await trx
    .updateTable('payments')
    .set({
      state: 'applied',
      reserved_number: null,
      subscription_id: applied.subscription.id,
      paid_from: paidFrom,
      paid_until: applied.subscription.expiresAt,
      transfer_hash: transferHash,
      failure: null,
      ...NEVER_CHECKED,
      updated_at: now,
    })
    .where('id', '=', id)
    .execute();
  const { number: given, expiresAt } = applied.subscription;
  const why = `${given} until ${expiresAt.toISOString()}`;
  await addPaymentEvent(trx, id, { state: 'applied', transactionHash: transferHash, why, at: now });
  return applied;
}

/** A number for a wallet that has none and whose reservation was released. */
async function numberFor(trx: DatabaseTransaction, payer: string, now: Date): Promise<string | undefined> {
  if ((await lockHolder(trx, payer)) !== undefined) return undefined;
  await lockReservations(trx);
  const number = await pickAvailable(trx, now);
  if (number === undefined) throw new NumberMissing('the money arrived, but no number is free');
  return number;
}
