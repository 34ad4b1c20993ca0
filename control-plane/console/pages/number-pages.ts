// One number and its events.
import { shownCarrier } from '#shared/carriers/carrier-name.ts';
import { type Html, html } from '#shared/html.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { soldStatus } from '#shared/operator/slot-health.ts';
import { reasonWords } from '#shared/operator/slot-reasons.ts';
import { shownWallet } from '../../domain/shown-value.ts';
import { EXPIRED } from '../../operator/listings/cells.ts';
import { NUMBER_STATUS } from '../../operator/listings/numbers.ts';
import type { NumberRow } from '../../store/fleet/numbers.ts';
import type { SubscriptionRow } from '../../store/money/subscription-list.ts';
import type { NumberEvent } from '../../store/operations/number-events.ts';
import { numberPath } from '../actions/paths.ts';
import { type ActionLink, actionLinks } from './confirm.ts';
import { numberEvents } from './event-lists.ts';
import { badge, facts, shownAt, slotLink } from './shown.ts';

const place = (node: string | null, slot: string | null): Html =>
  node === null || slot === null ? html`nowhere` : slotLink({ node, slot });

/** Last place of a SIM that no slot reports. */
const lastPlace = ({ node, slot }: Json<SubscriptionRow>): Html =>
  node === null || slot === null ? html`nowhere` : html`last in ${slotLink({ node, slot })}`;

/** `subscription`: the paid one that has the number. `canRefund`: the service has a key for refunds. */
export function numberPage(
  number: Json<NumberRow>,
  subscription: Json<SubscriptionRow> | undefined,
  events: readonly NumberEvent[],
  { canRefund, nowMs }: { canRefund: boolean; nowMs: number },
): Html {
  const { carrier, expires_at, iccid, label, node, quarantined_until, reason, slot, state, wallet } = number;
  return html`<p class="trail"><a href="/numbers">Numbers</a></p><h1>${number.number}</h1>
${facts([
  ['State', badge(NUMBER_STATUS[state])],
  ['Not sold before', quarantined_until === null ? null : shownAt(quarantined_until)],
  ['Reason', reason],
  ['Slot', node === null && subscription !== undefined ? lastPlace(subscription) : place(node, slot)],
  ['Carrier', carrier && shownCarrier(carrier)],
  ['ICCID', iccid],
  ['Label', label],
  ['Held by', wallet === null ? null : shownWallet(wallet, false)],
  ['Until', expires_at === null ? null : shownAt(expires_at)],
  [
    'Service',
    subscription !== undefined
      ? serviceOf(subscription)
      : expires_at === null || Date.parse(expires_at) > nowMs
        ? null
        : badge(EXPIRED),
  ],
])}${actionLinks(actionsOf(number, subscription, canRefund))}
<section aria-labelledby="events-title"><h2 id="events-title">Last events</h2>${numberEvents(events)}</section>`;
}

/** For an operator who returns from an action: what it did. Undefined for any other action. */
export function resultWords(
  name: unknown,
  number: Json<NumberRow>,
  events: readonly NumberEvent[],
): Html | undefined {
  if (name === 'move-number')
    return html`The number has the card ${number.iccid} now. It has service once the card is registered.`;
  if (name === 'extend-subscription' && number.expires_at !== null)
    return html`The subscription ends at ${shownAt(number.expires_at)} now.`;
  const former = events.find(({ kind }) => kind === 'reassigned_here')?.other;
  if (name !== 'reassign-number' || former == null) return undefined;
  return html`The subscriber has this number now. The former number, <a href="${numberPath(former)}">${former}</a>, is out of service.`;
}

function serviceOf({ reason, service }: Json<SubscriptionRow>): Html {
  return html`${badge(soldStatus(service))}${reason === null ? '' : `: ${reasonWords(reason)}`}`;
}

function actionsOf(
  { number, state }: Json<NumberRow>,
  subscription: Json<SubscriptionRow> | undefined,
  canRefund: boolean,
): ActionLink[] {
  if (subscription !== undefined) {
    const { expires_at, id } = subscription;
    return [
      ['move-number', { number }],
      ['reassign-number', { number, id }],
      ['extend-subscription', { number, id, expires_at }],
      ['end-subscription', { number, id, expires_at }],
      ...(canRefund ? [['end-and-refund', { number, id }] as const] : []),
    ];
  }
  if (state === 'quarantined') return [['release-number', { number }]];
  if (state === 'unadmitted') return [['admit-number', { number }]];
  return state === 'available' ? [['send-test', { from: number }]] : [];
}
