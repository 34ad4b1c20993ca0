// One payment and its history, for a terminal.
import { getAddress } from 'viem';
import type { Json } from '#shared/operator/procedure.ts';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { shownValue } from '../../domain/shown-value.ts';
import type { PaymentEvent } from '../../store/money/payment-events.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';

/** With whole wallets: an operator who asks for one payment answers its payer. */
export function shownPayment(
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
    ['our transaction', payment.transaction_hash],
    ['money came by', payment.transfer_hash],
    ['sent back by', payment.refund_hash],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  const width = Math.max(...known.map(([name]) => name.length));
  const history = alignedTable(
    ['AT', 'STATE', 'WHY', 'TRANSACTION'],
    events.map(({ at, state, why, transactionHash }) => [at, state, why ?? '-', transactionHash ?? '']),
  );
  return `${known.map(([name, fact]) => `${name.padEnd(width)}  ${fact}`).join('\n')}\n\n${history}`;
}
