// The ledger of payments: one row per authorization, with states that only advance.
import { type ExpressionBuilder, sql } from 'kysely';
import type { Hex } from 'viem';
import {
  type Applied,
  NumberMissing,
  type PaymentLedger,
  type PaymentState,
} from '../../payments/payment.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { lockReservations, pickAvailable } from '../fleet/number-pool.ts';
import { claim, findKnown, findNamed, lockHolder, NEVER_CHECKED, noteUsed } from './payment-claims.ts';
import { addPaymentEvent, movePayment } from './payment-events.ts';
import { OPEN_STATES, toPayment } from './payment-rows.ts';
import { findRepeated } from './repeated-payments.ts';
import { sentTransactions, transactionColumns } from './sent-transactions.ts';
import { extendOrCreate } from './subscriptions.ts';

/** A payment is checked in this many rounds, one a minute. After that each pause is twice as long as the one before, up to a limit. */
const CHECKS_EACH_ROUND = 10;
const CHECK_MINUTES_MAX = 15;

/** For this long after its end, a payment is checked in each round again. */
const JUST_ENDED_SECONDS = 60 * 60;

/** Its money bought a year, is refunded to the payer, or is kept for good. */
const IS_SPENT: ReadonlySet<PaymentState> = new Set([
  'applied',
  'taken_back',
  'refunding',
  'refunded',
  'closed',
]);

export function createPaymentLedger(db: Database): PaymentLedger {
  return {
    ...sentTransactions(db),
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

    release: (id, failure, now) => end(db, id, ['claimed'], { state: 'released', failure, updated_at: now }),
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

    async noteCheck(id, now) {
      await db
        .updateTable('payments')
        .set({
          checks: sql`checks + 1`,
          next_check_at: sql`case when checks >= ${CHECKS_EACH_ROUND}
            then ${now}::timestamptz + least(${CHECK_MINUTES_MAX}, power(2, checks - ${CHECKS_EACH_ROUND})) * interval '1 minute' end`,
        })
        .where('id', '=', id)
        .execute();
    },

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

    async unfinished(chainId, { before, now, limit }) {
      const rows = await db
        .selectFrom((payments) =>
          payments
            .selectFrom('payments')
            .selectAll()
            .select(sql<number>`row_number() over (partition by payer order by created_at, id)`.as('turn'))
            .where('chain_id', '=', chainId)
            .where('state', 'in', OPEN_STATES)
            .where('updated_at', '<', before)
            .where((eb) => isDue(eb, now))
            .as('due'),
        )
        .selectAll()
        .orderBy('turn')
        .orderBy('created_at')
        .limit(limit)
        .execute();
      return rows.map(toPayment);
    },

    async notFinal(chainId, { now, limit }) {
      const rows = await db
        .selectFrom('payments')
        .selectAll()
        .where('chain_id', '=', chainId)
        .where('state', '=', 'applied')
        .where('final_at', 'is', null)
        .where((eb) => isDue(eb, now))
        .orderBy('updated_at')
        .limit(limit)
        .execute();
      return rows.map(toPayment);
    },

    async setFinal(id, transferHash, now) {
      await db
        .updateTable('payments')
        .set({ final_at: now, ...(transferHash === undefined ? {} : { transfer_hash: transferHash }) })
        .where('id', '=', id)
        .where('state', '=', 'applied')
        .execute();
    },

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

/** The payer of one that has just ended waits for what the chain shows. */
const isDue = (eb: ExpressionBuilder<Tables, 'payments'>, now: Date) => {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  return eb.or([
    eb('next_check_at', 'is', null),
    eb('next_check_at', '<=', now),
    eb.between('valid_before', String(nowSeconds - JUST_ENDED_SECONDS), String(nowSeconds)),
  ]);
};

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
