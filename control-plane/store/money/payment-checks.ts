// Which payments the next round of checks takes: open ones, and applied ones that a reorganization may still revert.
import { type ExpressionBuilder, sql } from 'kysely';
import type { PaymentLedger } from '../../payments/payment.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { OPEN_STATES, toPayment } from './payment-rows.ts';

/** A payment is checked in this many rounds, one a minute. After that each pause is twice as long as the one before, up to a limit. */
const CHECKS_EACH_ROUND = 10;
const CHECK_MINUTES_MAX = 15;

/** For this time after its end a payment is checked in each round again. */
const JUST_ENDED_SECONDS = 60 * 60;

export const paymentChecks = (
  db: Database,
): Pick<PaymentLedger, 'noteCheck' | 'unfinished' | 'notFinal' | 'setFinal'> => ({
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
});

/** The payer of one that has just ended waits for what the chain shows. */
const isDue = (eb: ExpressionBuilder<Tables, 'payments'>, now: Date) => {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  return eb.or([
    eb('next_check_at', 'is', null),
    eb('next_check_at', '<=', now),
    eb.between('valid_before', String(nowSeconds - JUST_ENDED_SECONDS), String(nowSeconds)),
  ]);
};
