// The refund of money that bought nothing: a button if the service has the key, else the command to run.

import { type Html, html } from '#shared/html.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import type { PaymentState } from '../../payments/payment.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import type { RefundSender } from '../actions/refunds.ts';
import { actionLinks } from './action-links.ts';

/** In which money may have come and bought nothing, where a transfer was seen; or is on its way back. */
const REFUNDABLE: readonly PaymentState[] = ['in_flight', 'reverted', 'released', 'void'];

export function refundOffer(payment: Json<PaymentRow>, refunds: RefundSender | undefined): Html {
  const { id, pay_to, state, transfer_hash } = payment;
  if (state !== 'refunding' && !(REFUNDABLE.includes(state) && transfer_hash !== null)) return html``;
  if (refunds?.hasKeyOf(pay_to) === true) return actionLinks([['refund', { id }]]);
  return html`<div class="nothing"><p>The money came and bought nothing. This sends it back, where the key of the account that was paid is at hand:</p>
<pre>REFUND_KEY_FILE=pay-to.key ${ownCommand('control-plane')} payment refund ${id} --reason '…' --yes</pre></div>`;
}
