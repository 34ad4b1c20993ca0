// The ledger of payments: one row per authorization, with states that only advance.
import { sql } from 'kysely';
import type { PaymentLedger, PaymentState } from '../../payments/payment.ts';
import type { Database } from '../database/database.ts';
import { paymentApplication } from './payment-application.ts';
import { paymentChecks } from './payment-checks.ts';
import { claim, findKnown, findNamed, noteUsed, release } from './payment-claims.ts';
import { addPaymentEvent, movePayment } from './payment-events.ts';
import { OPEN_STATES } from './payment-rows.ts';
import { findRepeated } from './repeated-payments.ts';
import { sentTransactions, transactionColumns } from './sent-transactions.ts';

export function createPaymentLedger(db: Database): PaymentLedger {
  return {
    ...sentTransactions(db),
    ...paymentChecks(db),
    ...paymentApplication(db),
    find: (authorization) => findKnown(db, authorization),
    findNamed: (named) => findNamed(db, named),
    findRepeated: (authorization, identifier) =>
      db.transaction().execute((trx) => findRepeated(trx, authorization, identifier)),
    claim: (authorization, terms) => db.transaction().execute((trx) => claim(trx, authorization, terms)),
    noteUsed: (authorization, now) => db.transaction().execute((trx) => noteUsed(trx, authorization, now)),

    setInFlight: (id, transaction, now) =>
      movePayment(db, id, ['claimed', 'in_flight'], {
        state: 'in_flight',
        ...transactionColumns(transaction),
        updated_at: now,
      }),

    async replaceTransaction(id, transaction, now) {
      for (const state of ['in_flight', 'applied'] as const) {
        const change = { state, ...transactionColumns(transaction), updated_at: now };
        if (await movePayment(db, id, [state], change)) return true;
      }
      return false;
    },

    release: (of, failure, now) => db.transaction().execute((trx) => release(trx, of, failure, now)),
    releaseUnshown: (id, failure, now) =>
      end(db, id, ['in_flight'], { state: 'released', failure, updated_at: now }),
    setReverted: (id, failure, now) =>
      end(db, id, ['in_flight'], { state: 'reverted', failure: failure ?? null, updated_at: now }),
    setVoid: (id, failure, now) => end(db, id, OPEN_STATES, { state: 'void', failure, updated_at: now }),

    giveNumberBack: (id, failure, now) =>
      db.transaction().execute(async (trx) => {
        const given = await trx
          .updateTable('payments')
          .set({ reserved_number: null, failure })
          .where('id', '=', id)
          .where('state', '=', 'in_flight')
          .where('reserved_number', 'is not', null)
          .returning('state')
          .executeTakeFirst();
        if (given === undefined) return;
        await addPaymentEvent(trx, id, { state: given.state, transactionHash: null, why: failure, at: now });
      }),

    async setTakenBack(id, failure, now) {
      await movePayment(db, id, ['applied'], {
        state: 'taken_back',
        failure,
        final_at: now,
        updated_at: now,
      });
    },
  };
}

/** Payments by state; states without any are left out. */
export async function countPayments(db: Database): Promise<Map<PaymentState, number>> {
  const rows = await db
    .selectFrom('payments')
    .select(['state', sql<number>`count(*)::int`.as('count')])
    .groupBy('state')
    .execute();
  return new Map(rows.map(({ state, count }) => [state, count]));
}

/** Open payments, by chain. */
export async function countOpenPayments(db: Database): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('payments')
    .select(['chain_id', sql<number>`count(*)::int`.as('count')])
    .where('state', 'in', OPEN_STATES)
    .groupBy('chain_id')
    .execute();
  return new Map(rows.map(({ chain_id, count }) => [Number(chain_id), count]));
}

/** Ends a payment that is in one of the states `from`, and releases its number. */
async function end(
  db: Database,
  id: string,
  from: readonly PaymentState[],
  change: { state: PaymentState; failure?: string | null; updated_at: Date },
): Promise<void> {
  await movePayment(db, id, from, { ...change, reserved_number: null });
}
