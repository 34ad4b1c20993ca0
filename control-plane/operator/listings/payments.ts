// The list of payments.
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Status } from '#shared/operator/slot-health.ts';
import { maskedNumber, maskedWallet, shownValue } from '../../domain/shown-value.ts';
import type { PaymentState } from '../../payments/payment.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import { numberCell, walletCell } from './cells.ts';

export const PAYMENT_STATUS: Readonly<Record<PaymentState, Status>> = {
  claimed: { health: 'busy', sign: 'wait', words: 'claimed' },
  in_flight: { health: 'busy', sign: 'wait', words: 'in flight' },
  reverted: { health: 'warn', sign: 'cross', words: 'reverted' },
  applied: { health: 'good', sign: 'check', words: 'applied' },
  taken_back: { health: 'bad', sign: 'cross', words: 'taken back' },
  released: { health: 'off', sign: 'pause', words: 'released' },
  void: { health: 'off', sign: 'barred', words: 'void' },
  refunding: { health: 'warn', sign: 'wait', words: 'refunding' },
  refunded: { health: 'off', sign: 'check', words: 'refunded' },
  closed: { health: 'off', sign: 'barred', words: 'closed' },
};

/** The amount that is being refunded, was refunded, or was given up; null without a refund. */
export function shownRefund({ refund_value, ...payment }: Json<PaymentRow>): string | null {
  if (refund_value === null) return null;
  const value = shownValue({ ...payment, value: refund_value });
  return payment.state === 'closed' ? `${value} not sent` : value;
}

export const PAYMENTS: Listing<Json<PaymentRow>> = {
  name: 'payments',
  title: 'Payments',
  empty: 'No payments.',
  columns: [
    { title: 'Payment', cell: ({ id }) => ({ link: { payment: id }, text: id }) },
    { title: 'State', cell: ({ state }) => ({ status: PAYMENT_STATUS[state], text: state }) },
    { title: 'Since', cell: ({ since }) => ({ time: since }) },
    { title: 'Value', cell: (payment) => shownValue(payment) },
    { title: 'Payer', cell: ({ payer }, { isFull }) => walletCell(payer, isFull) },
    { title: 'Number', cell: ({ number }, { isFull }) => numberCell(number, !isFull) },
    { title: 'Refund', cell: (payment) => shownRefund(payment) ?? '' },
    { title: 'Reason', cell: ({ failure }) => failure ?? '' },
  ],
  masked: (row) => ({
    ...row,
    number: row.number && maskedNumber(row.number),
    payer: maskedWallet(row.payer),
  }),
};
