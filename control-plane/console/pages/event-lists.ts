// Lists of what happened: to slots, and to a number.
import { type Html, html } from '#shared/html.ts';
import { maskedNumber, withMaskedNumbers } from '../../domain/shown-value.ts';
import { detailFields, inWords } from '../../operator/listings/audit-log.ts';
import type { SlotHistoryEvent } from '../../store/operations/events.ts';
import type { NumberEvent, NumberEventKind } from '../../store/operations/number-events.ts';
import { nodePath, numberPath, paymentPath } from '../actions/paths.ts';
import { plain, shownAt, slotLink } from './shown.ts';

export function slotEvents(events: readonly SlotHistoryEvent[]): Html {
  if (events.length === 0) return html`<div id="events" class="nothing"><p>No events yet.</p></div>`;
  return html`<ol id="events" class="events">${events.map(
    (event) =>
      html`<li>${shownAt(event.at)} ${event.slot === '' ? nodeLink(event.node) : slotLink(event)} <b>${plain(event.kind)}</b> <span>${event.detail}</span></li>`,
  )}</ol>`;
}

const nodeLink = (node: string): Html => html`<a href="${nodePath(node)}">${node}</a>`;

const KIND_WORDS: Readonly<Record<Exclude<NumberEventKind, 'change'>, string>> = {
  sms_sent: 'message sent',
  sms_received: 'message received',
  call: 'call',
  payment: 'payment',
  sold: 'sold',
  given_up: 'free again',
  expired: 'subscription over',
  reassigned_here: 'given to a subscriber in place of',
  reassigned_away: 'its subscriber got',
  outage: 'without service',
  outage_over: 'in service again',
  came_to_node: 'SIM came to',
  slot: 'event of its slot',
};

const CHANGE_WORDS: Readonly<Record<string, string>> = {
  moveNumber: 'moved to another card',
  extendSubscription: 'subscription extended',
  endSubscription: 'subscription ended',
  takeOutOfService: 'taken out of service',
  putInService: 'put back in service',
  releaseNumber: 'released from quarantine',
  admitNumber: 'admitted',
  retire: 'retired',
};

const ofChange = (action: string): string => CHANGE_WORDS[action] ?? inWords(action);

/** Without the texts, and without whole numbers of others. */
export function numberEvents(events: readonly NumberEvent[]): Html {
  if (events.length === 0) return html`<div class="nothing"><p>No events yet.</p></div>`;
  return html`<ol class="events">${events.map(
    (event) =>
      html`<li>${shownAt(event.at)} <b>${whatOf(event)}</b> ${subject(event)} <span>${outcomeOf(event)}</span></li>`,
  )}</ol>`;
}

function whatOf({ direction, kind, outcome }: NumberEvent): string {
  if (kind === 'change') return ofChange(String(outcome));
  return `${direction === null ? '' : `${direction} `}${KIND_WORDS[kind]}`;
}

function outcomeOf({ detail, durationMs, kind, outcome }: NumberEvent): string {
  if (detail !== null) return withMaskedNumbers(detailWords(detail));
  if (outcome === null) return '';
  const words = kind === 'outage' || kind === 'slot' ? outcome : plain(outcome);
  return durationMs === null ? words : `${words}, ${Math.round(durationMs / 1000)} s`;
}

/** The numbers of a reassignment are in its words. */
const detailWords = ({ from, to, reason, ...others }: Record<string, unknown>): string =>
  [
    ...(typeof from === 'string' && typeof to === 'string' && !from.startsWith('+')
      ? [`${from} to ${to}`]
      : []),
    ...detailFields(others),
    ...(typeof reason === 'string' ? [reason] : []),
  ].join(', ');

function subject({ kind, node, other, payment, peer, slot }: NumberEvent): Html {
  if (payment !== null) return html`<a href="${paymentPath(payment)}">${payment}</a>`;
  if (other !== null) return html`<a href="${numberPath(other)}">${maskedNumber(other)}</a>`;
  if (node !== null && slot !== null) return slotLink({ node, slot });
  if (node !== null) return nodeLink(node);
  if (!OF_PEERS.has(kind)) return html``;
  return html`<span>${peer === null ? 'withheld' : maskedNumber(peer)}</span>`;
}

const OF_PEERS: ReadonlySet<NumberEventKind> = new Set(['sms_sent', 'sms_received', 'call']);
