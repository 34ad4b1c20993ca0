// The refund of a subscription that ends: the plan, and the decision in the transaction of the end.
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { amountOf, type RefundShare, sharesOf, unusedShares } from '../../domain/refund-shares.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { decimalsOf, shownValue } from '../../domain/shown-value.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { openPaymentOf } from './payers.ts';
import { movePayment } from './payment-events.ts';

const refundOfPaymentSchema = z.object({
  id: z.string(),
  chain_id: z.number(),
  asset: z.string(),
  payer: z.string(),
  /** Smallest units that go back. */
  value: z.string(),
  /** Whole days left of the year that it bought, and all its days. Null for an amount that an operator chose, and once the refund is decided. */
  days_left: z.number().nullable(),
  days: z.number().nullable(),
  /** The chain cannot revert the transfer any more: the refund can be sent. */
  is_final: z.boolean(),
  /** When the service checks that next; null for its next round, and once it is final. */
  next_check_at: timeOutput.nullable(),
});
type RefundOfPayment = z.output<typeof refundOfPaymentSchema>;

export const plannedRefundSchema = z.object({
  id: z.string(),
  /** The end of the subscription now. An end with a refund is refused if it is another one by then. */
  expires_at: timeOutput,
  /** The subscription ended with this refund already: it only has to be finished. */
  is_decided: z.boolean(),
  /** Newest first. */
  payments: z.array(refundOfPaymentSchema),
});
export type PlannedRefund = z.output<typeof plannedRefundSchema>;

interface RefundQuestion {
  id: string;
  /** Refused if the subscription has another one. */
  number?: string | undefined;
  /** As operators write it; without it, the unused share of what was paid. */
  amount?: string | undefined;
}

/** The refund of an end of the subscription now, or of its last end. Throws `OperatorRefusal` if there is nothing to refund. */
export async function planRefund(
  db: Database,
  { id, number, amount }: RefundQuestion,
  now: Date,
): Promise<PlannedRefund> {
  const subscription = await db
    .selectFrom('subscriptions')
    .select(['number', 'wallet', 'expires_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (subscription === undefined) throw refusal(`there is no subscription ${id}.`);
  if (number !== undefined && number !== subscription.number)
    throw refusal(`${id} has another number now. Check it, then try again.`);
  const { expires_at, wallet } = subscription;
  const payments = await paymentsOf(db, id);
  const ofThisEnd = payments.filter((payment) => payment.refund_of_end?.getTime() === expires_at.getTime());
  if (ofThisEnd.length > 0) {
    const decided = ofThisEnd.map((payment) =>
      describe(payment, { value: BigInt(payment.refund_value ?? 0) }),
    );
    refuseOtherAmount(id, decided, amount);
    return { id, expires_at, is_decided: true, payments: decided };
  }
  // Its subscription was renewed or extended since: a repetition of that end would end what the customer paid after it.
  const unfinished = payments.find(
    (payment) => payment.state === 'refunding' && payment.refund_of_end !== null,
  );
  if (unfinished !== undefined)
    throw refusal(
      `the refund of payment ${unfinished.id} is not finished. First run "${ownCommand('control-plane')} payment refund ${unfinished.id}".`,
    );
  if (payments.some(({ state }) => state === 'taken_back'))
    throw refusal(`the chain reverted a payment of ${id}. First run the command without --refund.`);
  if ((await openPaymentOf(db, wallet, now)) !== undefined)
    throw refusal(`a payment of its wallet is under way. Run the command again when it has ended.`);
  const applied = payments.filter(({ state }) => state === 'applied');
  const byId = new Map(applied.map((payment) => [payment.id, payment]));
  const shares = sharesOfPayments(applied, amount, now);
  if (shares.length === 0)
    throw refusal(
      applied.length === 0
        ? `no payment of ${id} is left to refund.`
        : `no whole paid day of ${id} is left. Give an amount, or end it without --refund.`,
    );
  const planned = shares.flatMap((share) => {
    const payment = byId.get(share.id);
    return payment === undefined ? [] : [describe(payment, share)];
  });
  return { id, expires_at, is_decided: false, payments: planned };
}

/** The decision of an operator who was shown a plan. */
export interface RefundDecision {
  /** The end that the plan was made for. */
  expires_at: Date;
  shares: ReadonlyArray<{ id: string; value: bigint }>;
}

/**
 * Records that an end of a subscription refunds these payments: each is `refunding`, and its transaction can be made from then on. Throws
 * `OperatorRefusal` if that end has a refund already, or if a payment cannot be refunded any more. The subscription's row is locked.
 */
export async function orderRefunds(
  trx: DatabaseTransaction,
  {
    id,
    endedAt,
    shares,
    reason,
    now,
  }: Pick<RefundDecision, 'shares'> & { id: string; endedAt: Date; reason: string; now: Date },
): Promise<void> {
  const payments = await trx
    .selectFrom('payments')
    .select(['id', 'state', 'value', 'final_at', 'refund_of_end'])
    .where('subscription_id', '=', id)
    .forUpdate()
    .execute();
  if (payments.some((payment) => payment.refund_of_end?.getTime() === endedAt.getTime())) throw changed(id);
  if (payments.some(({ state }) => state === 'taken_back')) throw changed(id);
  for (const share of shares) {
    const payment = payments.find((each) => each.id === share.id && each.state === 'applied');
    if (payment === undefined || payment.final_at === null) throw changed(id);
    if (share.value <= 0n || share.value > BigInt(payment.value))
      throw refusal(`the refund of ${share.id} must be more than 0, and at most what was paid.`);
    const isMoved = await movePayment(trx, share.id, ['applied'], {
      state: 'refunding',
      refund_value: String(share.value),
      refund_of_end: endedAt,
      failure: reason,
      updated_at: now,
    });
    if (!isMoved) throw changed(id);
  }
}

export const changed = (id: string): OperatorRefusal => refusal(`${id} has changed. Run the command again.`);

const refusal = (why: string): OperatorRefusal => new OperatorRefusal(`Nothing was done: ${why}`);

type PaymentOf = Awaited<ReturnType<typeof paymentsOf>>[number];

/** Newest period first. A wallet has few: each is a year. */
const paymentsOf = (db: Database, id: string) =>
  db
    .selectFrom('payments')
    .select(['id', 'state', 'chain_id', 'asset', 'payer', 'value', 'final_at', 'next_check_at'])
    .select(['paid_from', 'paid_until', 'refund_value', 'refund_of_end'])
    .where('subscription_id', '=', id)
    .orderBy('paid_from', (by) => by.desc().nullsLast())
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();

const describe = (
  { asset, chain_id, final_at, id, next_check_at, payer }: PaymentOf,
  { value, daysLeft, days }: Pick<RefundShare, 'value'> & Partial<RefundShare>,
): RefundOfPayment => ({
  id,
  chain_id,
  asset,
  payer,
  value: String(value),
  days_left: daysLeft ?? null,
  days: days ?? null,
  is_final: final_at !== null,
  next_check_at: final_at === null ? next_check_at : null,
});

function sharesOfPayments(
  applied: readonly PaymentOf[],
  amount: string | undefined,
  now: Date,
): RefundShare[] {
  const periods = applied.map((payment) => ({
    ...payment,
    value: BigInt(payment.value),
    paidFrom: payment.paid_from,
    paidUntil: payment.paid_until,
  }));
  const [newest] = periods;
  if (amount === undefined || newest === undefined) return unusedShares(periods, now);
  // An amount is one of one token: that of the last payment.
  const { asset, chain_id } = newest;
  const ofToken = periods.filter((period) => period.asset === asset && period.chain_id === chain_id);
  const shown = (value: bigint): string => shownValue({ asset, chain_id, value: String(value) });
  return sharesOf(ofToken, amountOf(amount, decimalsOf(newest)), { now, shown });
}

function refuseOtherAmount(
  id: string,
  decided: readonly RefundOfPayment[],
  amount: string | undefined,
): void {
  const [first] = decided;
  if (amount === undefined || first === undefined) return;
  const value = decided.reduce((sum, payment) => sum + BigInt(payment.value), 0n);
  if (amountOf(amount, decimalsOf(first)) === value) return;
  throw refusal(
    `${id} has ended with a refund of ${shownValue({ ...first, value: String(value) })}, which cannot be changed. Run the command without an amount to finish it.`,
  );
}
