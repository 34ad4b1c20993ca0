// `control-plane payment …`: the state of payments, the history of one, and the refund of money that bought nothing, or its end.
import { getAddress } from 'viem';
import { systemClock } from '#shared/clock.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { switchOption } from '#shared/process/options.ts';
import { alignedTable, toJson } from '#shared/process/terminal.ts';
import { shownValue } from '../../domain/shown-value.ts';
import { PAYMENT_STATES } from '../../payments/payment.ts';
import type { PaymentEvent } from '../../store/money/payment-events.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import { PAYMENTS, shownRefund } from '../listings/payments.ts';
import { paymentIdSchema, reasonSchema, transactionHashSchema, walletSchema } from '../procedures/fields.ts';
import { LIMIT_OPTION, listCommand } from './list-command.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  JSON_OPTION,
  operatorCommand,
} from './operator-command.ts';
import { CHAIN_OPTIONS, REFUND_OPTIONS, withKey } from './refund-options.ts';

const PAYMENT_REFUND_OPTIONS = {
  ...REFUND_OPTIONS,
  reason: { about: 'Reason, stored in the history', schema: reasonSchema },
  transfer: filterOption(
    'Hash of the transaction in which the payer sent the money, if the payment does not name it',
    transactionHashSchema,
  ),
} as const;

export const PAYMENT_COMMANDS = [
  listCommand({
    usage: 'payment list',
    about:
      'List the payments, newest first. SINCE is when the state began, so it can be out of order. --stuck lists those that need attention.',
    options: {
      ...LIMIT_OPTION,
      ...FULL_OPTION,
      state: choiceOption('Only payments in this state', PAYMENT_STATES),
      stuck: switchOption('Only payments that take too long, or whose money arrived and bought nothing'),
      wallet: filterOption('Only payments of this payer', walletSchema),
      after: filterOption('Continue after this payment', paymentIdSchema),
    },
    listing: PAYMENTS,
    read: (operator, { state, stuck, wallet, after, limit }) =>
      operator.call('payments', { state, isStuck: stuck, wallet, after, limit }),
  }),
  operatorCommand({
    usage: 'payment show <id>',
    about: 'Show one payment and its history.',
    options: { json: JSON_OPTION },
    async run(operator, { json }, [text]) {
      const { events, ...payment } = await operator.call('payment', {
        id: checked('id', paymentIdSchema, text),
      });
      if (!json) return shownPayment(payment, events);
      const history = events.map(({ transactionHash, ...event }) => ({
        ...event,
        transaction_hash: transactionHash,
      }));
      return toJson({ ...payment, events: history });
    },
  }),
  operatorCommand({
    usage: 'payment void <id>',
    about:
      'End a payment and release its number. Works only if the chain proves that the payment can no longer move money.',
    options: CHAIN_OPTIONS,
    async run(operator, options, [text]) {
      const { voidPayment } = await import('../void-payment.ts');
      return voidPayment(operator, checked('id', paymentIdSchema, text), options);
    },
  }),
  operatorCommand({
    usage: 'payment refund <id>',
    about:
      'Refund a payment that bought nothing, once, to its payer; or finish the refund of a subscription that was ended.',
    options: PAYMENT_REFUND_OPTIONS,
    async run(operator, given, [text]) {
      const options = withKey(given);
      const id = checked('id', paymentIdSchema, text);
      const { refundPayment } = await import('../refund-payment.ts');
      return refundPayment(operator, id, { ...options, clock: systemClock });
    },
  }),
  operatorCommand({
    usage: 'payment close <id>',
    about:
      'Give up the refund of a payment for good. Works only if the token rejects it, and if no refund that was sent can still move money.',
    options: {
      ...CHAIN_OPTIONS,
      yes: switchOption(
        'Do it: the money stays in the account that was paid, and the payment is never refunded',
      ),
      reason: { about: 'Reason, stored in the history', schema: reasonSchema },
      unrelated: filterOption(
        'Hash of a transaction that is not this refund, although it sent the payer the same amount',
        transactionHashSchema,
      ),
    },
    async run(operator, options, [text]) {
      const { closePayment } = await import('../close-payment.ts');
      return closePayment(operator, checked('id', paymentIdSchema, text), options);
    },
  }),
];

/** With whole wallets: an operator who asks for one payment answers its payer. */
function shownPayment(payment: Json<PaymentRow>, events: readonly Json<PaymentEvent>[]): string {
  const facts: Array<[string, string | null]> = [
    ['payment', payment.id],
    ['state', payment.state],
    ['why', payment.failure],
    ['value', shownValue(payment)],
    ['chain', `eip155:${payment.chain_id}`],
    ['payer', getAddress(payment.payer)],
    ['paid to', getAddress(payment.pay_to)],
    ['authorization', payment.nonce],
    ['number', payment.number],
    ['subscription', payment.subscription_id],
    ['service transaction', payment.transaction_hash],
    ['transfer', payment.transfer_hash],
    ['refund', shownRefund(payment)],
    ['refund transaction', payment.refund_hash],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  const width = Math.max(...known.map(([name]) => name.length));
  const history = alignedTable(
    ['AT', 'STATE', 'WHY', 'TRANSACTION'],
    events.map(({ at, state, why, transactionHash }) => [at, state, why ?? '-', transactionHash ?? '']),
  );
  return `${known.map(([name, fact]) => `${name.padEnd(width)}  ${fact}`).join('\n')}\n\n${history}`;
}
