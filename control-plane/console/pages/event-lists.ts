// Lists of what happened: to slots, and to a number.

import { type Html, html } from '#shared/html.ts';
import { maskedNumber } from '../../domain/shown-value.ts';
import type { NumberEvent, SlotHistoryEvent } from '../../store/operations/events.ts';
import { paymentPath } from '../actions/paths.ts';
import { plain, shownAt, slotLink } from './shown.ts';

export function slotEvents(events: readonly SlotHistoryEvent[]): Html {
  if (events.length === 0) return html`<div id="events" class="nothing"><p>No events yet.</p></div>`;
  return html`<ol id="events" class="events">${events.map(
    (event) =>
      html`<li>${shownAt(event.at)} ${slotLink(event)} <b>${plain(event.kind)}</b> <span>${event.detail}</span></li>`,
  )}</ol>`;
}

const KIND_WORDS = {
  sms_sent: 'message sent',
  sms_received: 'message received',
  call: 'call',
  payment: 'payment',
} as const;

/** Without the texts, and without whole numbers of others. */
export function numberEvents(events: readonly NumberEvent[]): Html {
  if (events.length === 0) return html`<div class="nothing"><p>No events yet.</p></div>`;
  return html`<ol class="events">${events.map(
    (event) =>
      html`<li>${shownAt(event.at)} <b>${event.direction === null ? '' : `${event.direction} `}${
        KIND_WORDS[event.kind]
      }</b> ${subject(event)} <span>${event.outcome === null ? '' : plain(event.outcome)}${
        event.durationMs === null ? '' : `, ${Math.round(event.durationMs / 1000)} s`
      }</span></li>`,
  )}</ol>`;
}

function subject({ payment, peer }: NumberEvent): Html {
  if (payment !== null) return html`<a href="${paymentPath(payment)}">${payment}</a>`;
  return html`<span>${peer === null ? 'withheld' : maskedNumber(peer)}</span>`;
}
