// The history of payments: each change of state adds an event, in the same statement or transaction.
import type { Updateable } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import { PAYMENT_STATES, type PaymentState } from '../../payments/payment.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { PaymentsTable } from '../database/payment-tables.ts';

export const paymentEventSchema = z.object({
  /** The state after the event. */
  state: z.enum(PAYMENT_STATES),
  transactionHash: z.string().nullable(),
  why: z.string().nullable(),
  at: timeOutput,
});
export type PaymentEvent = z.output<typeof paymentEventSchema>;

/** The columns that `movePayment` sets. The event takes state, transaction, failure and time from them. */
type Move = Updateable<PaymentsTable> & { state: PaymentState; updated_at: Date };

/**
 * Changes a payment that is in one of the states `from`, and adds an event in the same statement if its state or transaction changed. False
 * when it was in none of `from`.
 */
export async function movePayment(
  db: Database,
  id: string,
  from: readonly PaymentState[],
  change: Move,
): Promise<boolean> {
  const { state, transaction_hash: hash, failure = null, updated_at: at } = change;
  const row = await db
    .with('was', (was) =>
      was
        .selectFrom('payments')
        .select(['id', 'state', 'transaction_hash'])
        .where('id', '=', id)
        .where('state', 'in', from)
        .forUpdate(),
    )
    .with('moved', (moved) =>
      moved
        .updateTable('payments')
        .from('was')
        .set(change)
        .whereRef('payments.id', '=', 'was.id')
        .returning(['payments.id']),
    )
    .with('noted', (noted) =>
      noted
        .insertInto('payment_events')
        .columns(['payment_id', 'state', 'transaction_hash', 'why', 'at'])
        .expression((eb) =>
          eb
            .selectFrom('was')
            .select(({ val, cast }) => [
              'was.id',
              cast<string>(val(state), 'text').as('state'),
              cast<string>(val(hash ?? null), 'text').as('transaction_hash'),
              cast<string>(val(failure), 'text').as('why'),
              cast<Date>(val(at), 'timestamptz').as('at'),
            ])
            .where((is) =>
              is.or([
                is('was.state', '<>', state),
                is('was.transaction_hash', 'is distinct from', hash ?? is.ref('was.transaction_hash')),
              ]),
            ),
        ),
    )
    .selectFrom('moved')
    .select('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Adds an event to the history of a payment, in the transaction that changes it. */
export async function addPaymentEvent(
  trx: DatabaseTransaction,
  id: string,
  { state, transactionHash, why, at }: PaymentEvent,
): Promise<void> {
  await trx
    .insertInto('payment_events')
    .values({ payment_id: id, state, transaction_hash: transactionHash, why, at })
    .execute();
}

/** Limit per payment: one that is checked with a facilitator for a day has fewer. */
const EVENTS_MAX = 1_000;

/** Oldest first. */
export async function listPaymentEvents(db: Database, id: string): Promise<PaymentEvent[]> {
  return db
    .selectFrom('payment_events')
    .select(['state', 'transaction_hash as transactionHash', 'why', 'at'])
    .where('payment_id', '=', id)
    .orderBy('id')
    .limit(EVENTS_MAX)
    .execute();
}

/** Moves a subscription's payments from `taken_back` to `void`, in a transaction. Resolves with them: each had bought a year. */
export async function closeTakenBack(
  trx: Database,
  subscriptionId: string,
  why: string,
  now: Date,
): Promise<ReadonlyArray<{ id: string; paid_from: Date | null }>> {
  const payments = await trx
    .selectFrom('payments')
    .select(['id', 'paid_from'])
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'taken_back')
    .orderBy('paid_from', 'desc')
    .forUpdate()
    .execute();
  // There was no transfer, so there is nothing to refund.
  const closed = { state: 'void', transfer_hash: null, failure: why, updated_at: now } as const;
  for (const { id } of payments) await movePayment(trx, id, ['taken_back'], closed);
  return payments;
}
