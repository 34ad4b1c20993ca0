// `control-plane payment …`: the state of payments, the history of one, and the refund of money that bought nothing.
import { getAddress } from 'viem';
import type { Json } from '#shared/operator/procedure.ts';
import { integerOption, switchOption } from '#shared/process/options.ts';
import { alignedTable, toJson } from '#shared/process/terminal.ts';
import { OPTIONS } from '../../config/config.ts';
import { keyFileSchema, keySchema } from '../../config/private-key.ts';
import { shownValue } from '../../domain/shown-value.ts';
import { PAYMENT_STATES } from '../../payments/payment.ts';
import type { PaymentEvent } from '../../store/money/payment-events.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import { PAYMENTS } from '../listings/payments.ts';
import { paymentIdSchema, reasonSchema, transactionHashSchema, walletSchema } from '../procedures/fields.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  JSON_OPTION,
  LIMIT_OPTION,
  listCommand,
  operatorCommand,
} from './operator-command.ts';

const { paymentsFile, chainId, rpcUrl, rpcTimeoutMs, safeDepthBlocks } = OPTIONS;

const CHAIN_OPTIONS = { paymentsFile, chainId, rpcUrl, rpcTimeoutMs, safeDepthBlocks } as const;

const REFUND_OPTIONS = {
  ...CHAIN_OPTIONS,
  reason: { about: 'Reason, stored in the history', schema: reasonSchema },
  yes: switchOption('Send the money; without this flag the command changes nothing'),
  transfer: filterOption(
    'Hash of the transaction in which the payer sent the money, if the payment does not name it',
    transactionHashSchema,
  ),
  signAnew: switchOption('Sign another transaction if the stored one can never move the money'),
  unrelated: filterOption(
    'With --sign-anew: hash of a transaction that is not this refund, although it sent the payer the same amount',
    transactionHashSchema,
  ),
  refundKey: {
    env: 'REFUND_KEY',
    about: 'Private key of the PAY_TO account; prefer the file',
    schema: keySchema.optional(),
  },
  refundKeyFile: {
    env: 'REFUND_KEY_FILE',
    about: 'File with this key',
    schema: keyFileSchema.optional(),
  },
  waitMs: {
    env: 'REFUND_WAIT_MS',
    about: 'How long to wait for a block',
    schema: integerOption(0, 600_000, 60_000),
  },
} as const;

export const PAYMENT_COMMANDS = [
  listCommand({
    usage: 'payment list',
    about: 'List the payments, newest first; --stuck lists those that need attention.',
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
    about: 'Refund a payment that bought nothing, once, to its payer.',
    options: REFUND_OPTIONS,
    async run(operator, { refundKey, refundKeyFile, ...options }, [text]) {
      if (refundKey !== undefined && refundKeyFile !== undefined)
        throw new Error('give only one of REFUND_KEY_FILE and REFUND_KEY');
      const id = checked('id', paymentIdSchema, text);
      const { refundPayment } = await import('../refund-payment.ts');
      return refundPayment(operator, id, { ...options, key: refundKeyFile ?? refundKey });
    },
  }),
];

/** With whole wallets: an operator who asks for one payment answers its payer. */
function shownPayment(
  payment: Json<PaymentRow> & { refund_hash: string | null },
  events: readonly Json<PaymentEvent>[],
): string {
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
    ['refund', payment.refund_hash],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  const width = Math.max(...known.map(([name]) => name.length));
  const history = alignedTable(
    ['AT', 'STATE', 'WHY', 'TRANSACTION'],
    events.map(({ at, state, why, transactionHash }) => [at, state, why ?? '-', transactionHash ?? '']),
  );
  return `${known.map(([name, fact]) => `${name.padEnd(width)}  ${fact}`).join('\n')}\n\n${history}`;
}
