// What an operator sees of payments, and the ledger of refunds behind a desk.
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { RefundLedger } from '../payments/refund.ts';
import { listPaymentEvents } from '../store/payment-events.ts';
import { findPaymentRow, listPayments } from '../store/payment-list.ts';
import { createPaymentLedger } from '../store/payments.ts';
import { createRefundLedger } from '../store/refunds.ts';
import type { Desk } from './desk.ts';
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

/** The ledger of refunds behind a desk. */
export function refundLedgerOf(desk: Desk): RefundLedger {
  return {
    async find(id) {
      const { transfer, ...payment } = await desk.ask('refundable', { id });
      return {
        ...payment,
        transfer: { ...transfer, value: BigInt(transfer.value) },
      };
    },
    start: (id, refund, transferHash, reason) =>
      desk.ask('startRefund', { id, refund, transferHash, reason }),
    replace: (id, hash, refund, reason) => desk.ask('replaceRefund', { id, hash, refund, reason }),
    adopt: async (id, hash, mined) => {
      await desk.ask('adoptRefund', { id, hash, mined });
    },
    end: async (id, hash) => {
      await desk.ask('endRefund', { id, hash });
    },
  };
}
