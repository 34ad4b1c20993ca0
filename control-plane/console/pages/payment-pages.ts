// Payments by state, those that need the operator on top; and one payment with its history.
import { type Html, html } from '#shared/html.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { maskedNumber, shownValue, shownWallet } from '../../domain/shown-value.ts';
import { PAYMENT_STATUS, PAYMENTS, shownRefund } from '../../operator/listings/payments.ts';
import { PAYMENT_STATES, type PaymentState } from '../../payments/payment.ts';
import type { PaymentEvent } from '../../store/money/payment-events.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import { numberPath } from '../actions/paths.ts';
import type { RefundSender } from '../actions/refunds.ts';
import { actionLinks } from './confirm.ts';
import { type ListPage, listPage, listTable } from './listing.ts';
import { badge, facts, shownAt, table, withTimes } from './shown.ts';

const stateBadge = (state: PaymentState): Html => badge(PAYMENT_STATUS[state]);

/** `stuck`: payments that need attention, shown on top of the others. */
export function paymentsPage(
  page: Omit<ListPage<Json<PaymentRow>>, 'listing' | 'path' | 'fields'>,
  stuck: readonly Json<PaymentRow>[],
): Html {
  const isStuck = page.filters?.['show'] === 'stuck';
  const listing = isStuck ? STUCK_PAYMENTS : PAYMENTS;
  const { title, columns } = STUCK_PAYMENTS;
  const onTop =
    stuck.length === 0 || isStuck
      ? html``
      : html`<section class="stuck" aria-labelledby="stuck-title"><h2 id="stuck-title">Stuck</h2>${listTable(title, columns, stuck, page.nowMs)}</section>`;
  const fields = { state: { label: 'State', values: PAYMENT_STATES, isOnTop: true } } as const;
  return listPage({ ...page, listing, path: '/payments', fields, onTop });
}

const STUCK_PAYMENTS = { ...PAYMENTS, title: 'Stuck payments', empty: 'No payment is stuck.' };

type ShownPayment = Json<PaymentRow & { events: PaymentEvent[] }>;

export function paymentPage(payment: ShownPayment, refund: Html = html``): Html {
  const { events, failure, id, number, payer, state } = payment;
  return html`<p class="trail"><a href="/payments">Payments</a></p><h1>${id}</h1>
${facts([
  ['State', stateBadge(state)],
  ['Since', shownAt(payment.since)],
  ['Why', failure === null ? null : withTimes(failure)],
  ['Value', shownValue(payment)],
  ['Chain', `eip155:${payment.chain_id}`],
  ['Payer', shownWallet(payer, false)],
  ['Paid to', shownWallet(payment.pay_to, false)],
  ['Number', number === null ? null : html`<a href="${numberPath(number)}">${maskedNumber(number)}</a>`],
  ['Transaction of the service', hash(payment.transaction_hash)],
  ['Transfer', hash(payment.transfer_hash)],
  ['Refund', shownRefund(payment)],
  ['Transaction of the refund', hash(payment.refund_hash)],
])}${refund}
<section aria-labelledby="events-title"><h2 id="events-title">History</h2>${table(
    'History',
    ['At', 'State', 'Why', 'Transaction'],
    events.map(
      (event) =>
        html`<tr><td>${shownAt(event.at)}</td><td>${stateBadge(event.state)}</td><td>${withTimes(event.why ?? '')}</td><td>${hash(event.transactionHash) ?? ''}</td></tr>`,
    ),
  )}</section>`;
}

const hash = (text: string | null): Html | null =>
  text === null ? null : html`<code class="hash">${text}</code>`;

/** States in which money may have arrived and bought nothing, if a transfer was seen. */
const REFUNDABLE: readonly PaymentState[] = ['in_flight', 'reverted', 'released', 'void'];

/** The refund of money that bought nothing, or one that is not finished: a button if the service has the key, else the command to run. */
export function refundOffer(payment: Json<PaymentRow>, refunds: RefundSender | undefined): Html {
  const { id, pay_to, state, transfer_hash } = payment;
  if (state !== 'refunding' && !(REFUNDABLE.includes(state) && transfer_hash !== null)) return html``;
  const giveUp = ['close-payment', { id }] as const;
  if (refunds?.hasKeyOf(pay_to) === true) return actionLinks([['refund', { id }], giveUp]);
  const why = state === 'refunding' ? 'The refund is not finished.' : 'The money arrived and bought nothing.';
  return html`<div class="nothing"><p>${why} To refund it, run this command with the key of the account that was paid:</p>
<pre>REFUND_KEY_FILE=pay-to.key ${ownCommand('control-plane')} payment refund ${id} --reason '…' --yes</pre></div>${actionLinks([giveUp])}`;
}
