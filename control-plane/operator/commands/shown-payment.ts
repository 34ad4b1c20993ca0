// A payment in words: its money, where it stands, what happened to it.
import { getAddress } from 'viem';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { listedNumber } from '../../domain/masked-number.ts';
import { shownWallet } from '../../domain/masked-wallet.ts';
import { shownValue } from '../../domain/shown-value.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import type { Told } from '../desk-answers.ts';
import { shownTime } from './where.ts';

type ToldPayment = Told<PaymentRow>;

interface ToldEvent {
  at: string;
  state: string;
  transactionHash: string | null;
  why: string | null;
}

export function shownPayments(payments: readonly ToldPayment[], isFull: boolean): string {
  return alignedTable(
    ['PAYMENT', 'STATE', 'SINCE', 'VALUE', 'PAYER', 'NUMBER', ''],
    payments.map((payment) => [
      payment.id,
      payment.state,
      shownTime(payment.since),
      shownValue(payment),
      shownWallet(payment.payer, isFull),
      payment.number === null ? '-' : listedNumber(payment.number, !isFull),
      payment.failure ?? '',
    ]),
  );
}

/** Everything that is known of one payment, with whole wallets: who asks for one answers its payer. */
export function shownPayment(
  payment: ToldPayment & { refund_hash: string | null },
  events: readonly ToldEvent[],
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
