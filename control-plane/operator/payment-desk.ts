// Lists payments, and books refunds, for an operator.
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { listPaymentEvents } from '../store/money/payment-events.ts';
import { findPaymentRow, listPayments } from '../store/money/payment-list.ts';
import { createPaymentLedger } from '../store/money/payments.ts';
import { createRefundLedger } from '../store/money/refunds.ts';
import { type DeskCalls, page } from './desk-answers.ts';

type PaymentCall =
  | ('payments' | 'payment' | 'refundable' | 'voidPayment')
  | ('startRefund' | 'replaceRefund' | 'adoptRefund' | 'endRefund');

export const paymentDesk = ({ now }: { now: () => Date }): DeskCalls<PaymentCall> => ({
  payments: async (query, db) => page(await listPayments(db, query, now()), query.limit, ({ id }) => id),
  payment: async ({ id }, db) => {
    const row = await findPaymentRow(db, id);
    if (row === undefined) throw new OperatorRefusal(`there is no payment ${id}`);
    const { refund } = await createRefundLedger(db, now).find(id);
    return { ...row, refund_hash: refund?.hash ?? null, events: await listPaymentEvents(db, id) };
  },
  voidPayment: async ({ id, why }, db) => {
    await createPaymentLedger(db).setVoid(id, why, now());
    const row = await findPaymentRow(db, id);
    if (row?.state !== 'void')
      throw new OperatorRefusal(`${id} is ${row?.state ?? 'unknown'} now: nothing was done`);
    return null;
  },
  refundable: ({ id }, db) => createRefundLedger(db, now).find(id),
  startRefund: ({ id, refund, transferHash, reason }, db) =>
    createRefundLedger(db, now).start(id, refund, transferHash, reason),
  replaceRefund: ({ id, hash, refund, reason }, db) =>
    createRefundLedger(db, now).replace(id, hash, refund, reason),
  adoptRefund: async ({ id, hash, mined }, db) => {
    await createRefundLedger(db, now).adopt(id, hash, mined);
    return null;
  },
  endRefund: async ({ id, hash }, db) => {
    await createRefundLedger(db, now).end(id, hash);
    return null;
  },
});
