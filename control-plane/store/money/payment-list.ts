// Payments as operators see them.
import { sql } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import { PAYMENT_STATES, type PaymentState } from '../../payments/payment.ts';
import type { Database } from '../database/database.ts';

/** A payment that was not put on the chain, or made no progress, for this long needs an operator. */
const STUCK_MS = 10 * 60_000;

/** Few payments stay in these states; the others grow with the years. */
const UNSETTLED_STATES: readonly PaymentState[] = [
  'claimed',
  'in_flight',
  'reverted',
  'taken_back',
  'refunding',
  'void',
];

interface PaymentQuery {
  state?: PaymentState | undefined;
  /** Only payments that need an operator. */
  isStuck?: boolean | undefined;
  wallet?: string | undefined;
  /** Only payments that bought a year of it. */
  subscription?: string | undefined;
  /** The last id of the previous page. */
  after?: string | undefined;
  limit: number;
}

export const paymentRowSchema = z.object({
  id: z.string(),
  state: z.enum(PAYMENT_STATES),
  /** Since when it has been in this state. */
  since: timeOutput,
  chain_id: z.number(),
  asset: z.string(),
  value: z.string(),
  payer: z.string(),
  pay_to: z.string(),
  nonce: z.string(),
  /** Seconds since the Unix epoch: the authorization is valid until then. */
  valid_before: z.string(),
  /** Reserved for it, or bought with it. */
  number: z.string().nullable(),
  subscription_id: z.string().nullable(),
  transaction_hash: z.string().nullable(),
  transfer_hash: z.string().nullable(),
  /** Smallest units that go back to the payer, once an operator decided so, and the transaction that sends them. */
  refund_value: z.string().nullable(),
  refund_hash: z.string().nullable(),
  failure: z.string().nullable(),
  created_at: timeOutput,
});
export type PaymentRow = z.output<typeof paymentRowSchema>;

/** Newest first; one more than `limit` when there are more. */
export async function listPayments(
  db: Database,
  { state, isStuck, wallet, subscription, after, limit }: PaymentQuery,
  now: Date,
): Promise<PaymentRow[]> {
  let query = rows(db);
  if (state !== undefined) query = query.where('payments.state', '=', state);
  if (wallet !== undefined) query = query.where('payer', '=', wallet.toLowerCase());
  if (subscription !== undefined) query = query.where('subscription_id', '=', subscription);
  if (after !== undefined) {
    // Two values, and not a row of a subquery: only then an index leads to the page.
    query = query.where(
      sql<boolean>`(payments.created_at, payments.id) < ((select created_at from payments where id = ${after}), ${after})`,
    );
  }
  if (isStuck === true) {
    const before = new Date(now.getTime() - STUCK_MS);
    query = query.where('payments.state', 'in', UNSETTLED_STATES).where(({ eb, and, or }) =>
      or([
        eb('payments.state', '=', 'refunding'),
        // Until an operator removes the year that the lost payment had bought.
        and([eb('payments.state', '=', 'taken_back'), eb('subscriptions.expires_at', '>', now)]),
        and([
          eb('payments.state', 'in', ['in_flight', 'reverted', 'void']),
          eb('payments.transfer_hash', 'is not', null),
        ]),
        and([eb('payments.state', 'in', ['claimed', 'in_flight']), eb(SINCE, '<', before)]),
      ]),
    );
  }
  return query
    .orderBy('payments.created_at', 'desc')
    .orderBy('payments.id', 'desc')
    .limit(limit + 1)
    .execute();
}

export function findPaymentRow(db: Database, id: string): Promise<PaymentRow | undefined> {
  return rows(db).where('payments.id', '=', id).executeTakeFirst();
}

const SINCE = sql<Date>`coalesce((select max(payment_events.at) from payment_events
  where payment_events.payment_id = payments.id and payment_events.state = payments.state), payments.updated_at)`;

const rows = (db: Database) =>
  db
    .selectFrom('payments')
    .leftJoin('subscriptions', 'subscriptions.id', 'payments.subscription_id')
    .leftJoin('refunds', 'refunds.payment_id', 'payments.id')
    .select(({ fn }) => [
      'payments.id',
      'payments.state',
      SINCE.as('since'),
      'payments.chain_id',
      'asset',
      sql<string>`payments.value::text`.as('value'),
      'payer',
      'pay_to',
      'payments.nonce',
      sql<string>`payments.valid_before::text`.as('valid_before'),
      fn.coalesce('reserved_number', 'subscriptions.number').as('number'),
      'subscription_id',
      'payments.transaction_hash',
      'transfer_hash',
      sql<string | null>`payments.refund_value::text`.as('refund_value'),
      'refunds.transaction_hash as refund_hash',
      'failure',
      'payments.created_at',
    ]);
