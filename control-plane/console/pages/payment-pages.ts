// Payments by state, those that need the operator on top; and one payment with its history.

import { type Html, html } from '#shared/html.ts';
import { maskedNumber } from '../../domain/masked-number.ts';
import { shownWallet } from '../../domain/masked-wallet.ts';
import { shownValue } from '../../domain/shown-value.ts';
import type { Page, Told } from '../../operator/desk-answers.ts';
import { PAYMENT_STATES, type PaymentState } from '../../payments/payment.ts';
import type { PaymentEvent } from '../../store/money/payment-events.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import { numberPath, paymentPath } from '../actions/paths.ts';
import { choice, further, nothing } from './lists.ts';
import { badge, facts, plain, shownAt, table } from './shown.ts';
import type { Look } from './slot-look.ts';

const LOOKS: Readonly<Record<PaymentState, Omit<Look, 'words'>>> = {
  claimed: { tone: 'busy', sign: 'wait' },
  in_flight: { tone: 'busy', sign: 'wait' },
  reverted: { tone: 'warn', sign: 'cross' },
  applied: { tone: 'good', sign: 'check' },
  taken_back: { tone: 'bad', sign: 'cross' },
  released: { tone: 'off', sign: 'pause' },
  void: { tone: 'off', sign: 'barred' },
  refunding: { tone: 'warn', sign: 'wait' },
  refunded: { tone: 'off', sign: 'check' },
};

const stateBadge = (state: PaymentState): Html => badge({ ...LOOKS[state], words: plain(state) });

export function paymentsPage(
  { rows, next }: Told<Page<PaymentRow>>,
  stuck: readonly Told<PaymentRow>[],
  { state, isStuck }: { state: PaymentState | undefined; isStuck: boolean },
): Html {
  const onTop =
    stuck.length === 0 || isStuck
      ? html``
      : html`<section class="stuck" aria-labelledby="stuck-title"><h2 id="stuck-title">Stuck</h2>${list('Stuck payments', stuck)}</section>`;
  const shown = isStuck ? 'stuck' : undefined;
  return html`<div class="heading"><h1>${isStuck ? 'Stuck payments' : 'Payments'}</h1>${choice('/payments', 'state', PAYMENT_STATES, state)}</div>${onTop}${
    rows.length === 0
      ? nothing(isStuck ? 'No payment is stuck.' : 'No such payment.')
      : list('Payments', rows)
  }${further('/payments', { state, show: shown }, next)}`;
}

const list = (caption: string, rows: readonly Told<PaymentRow>[]): Html =>
  table(
    caption,
    ['Payment', 'State', 'Since', 'Value', 'Payer', 'Number', 'Why'],
    rows.map(
      (payment) =>
        html`<tr><th scope="row"><a href="${paymentPath(payment.id)}">${payment.id}</a></th><td>${stateBadge(payment.state)}</td><td>${shownAt(
          payment.since,
        )}</td><td class="number">${shownValue(payment)}</td><td>${shownWallet(payment.payer, false)}</td><td>${
          payment.number === null
            ? '–'
            : html`<a href="${numberPath(payment.number)}">${maskedNumber(payment.number)}</a>`
        }</td><td>${payment.failure ?? ''}</td></tr>`,
    ),
  );

type ShownPayment = Told<PaymentRow & { events: PaymentEvent[]; refund_hash: string | null }>;

export function paymentPage(payment: ShownPayment, refund: Html = html``): Html {
  const { events, failure, id, number, payer, state } = payment;
  return html`<p class="trail"><a href="/payments">Payments</a></p><h1>${id}</h1>
${facts([
  ['State', stateBadge(state)],
  ['Since', shownAt(payment.since)],
  ['Why', failure],
  ['Value', shownValue(payment)],
  ['Chain', `eip155:${payment.chain_id}`],
  ['Payer', shownWallet(payer, false)],
  ['Paid to', shownWallet(payment.pay_to, false)],
  ['Number', number === null ? null : html`<a href="${numberPath(number)}">${maskedNumber(number)}</a>`],
  ['Our transaction', hash(payment.transaction_hash)],
  ['Money came by', hash(payment.transfer_hash)],
  ['Sent back by', hash(payment.refund_hash)],
])}${refund}
<section aria-labelledby="events-title"><h2 id="events-title">History</h2>${table(
    'History',
    ['At', 'State', 'Why', 'Transaction'],
    events.map(
      (event) =>
        html`<tr><td>${shownAt(event.at)}</td><td>${stateBadge(event.state)}</td><td>${event.why ?? ''}</td><td>${hash(event.transactionHash) ?? ''}</td></tr>`,
    ),
  )}</section>`;
}

const hash = (text: string | null): Html | null =>
  text === null ? null : html`<code class="hash">${text}</code>`;
