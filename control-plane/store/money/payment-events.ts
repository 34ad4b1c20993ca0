// The history of payments: what changes the state of one adds a line to it, in the same statement or transaction.
import type { Updateable } from 'kysely';
import type { PaymentState } from '../../payments/payment.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { PaymentsTable } from '../database/tables.ts';

export interface PaymentEvent {
  /** The state afterwards. */
  state: PaymentState;
  transactionHash: string | null;
  why: string | null;
  at: Date;
}

/** What `movePayment` sets; its history takes state, transaction, failure and time from here. */
type Move = Updateable<PaymentsTable> & { state: PaymentState; updated_at: Date };

/**
 * Moves a payment out of one of `from`, and notes it in one statement with that, unless neither its state nor its
 * transaction is another one afterwards. False when it was in none of `from`.
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

/** Adds a line to the history of a payment, in the transaction that changes it. */
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

/** Lines of one payment at most: one that is asked of a facilitator for a day has fewer. */
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
