// One node: how it is, its slots in a table, what happened on it.
import { shownCarrier } from '#shared/carriers/carrier-name.ts';
import { type Html, html } from '#shared/html.ts';
import { reasonWords } from '#shared/operator/slot-reasons.ts';
import { listedNumber } from '../../domain/shown-value.ts';
import { shownRefusals } from '../../operator/listings/nodes.ts';
import type { FleetNode, FleetSlot } from '../../store/fleet/fleet-nodes.ts';
import type { SlotHistoryEvent } from '../../store/operations/events.ts';
import { numberPath, slotPath } from '../actions/paths.ts';
import type { Fragment } from '../live/live-topic.ts';
import { actionLinks } from './confirm.ts';
import { slotEvents } from './event-lists.ts';
import { cell, idOf } from './rack.ts';
import { badge, facts, partOf, plain, shownAt, table, tableCells } from './shown.ts';
import { signalBars } from './signs.ts';
import { barsOf, isUp, slotStatusOf, statusOfNode, USE_WORDS } from './slot-status.ts';

export function nodeFragments(
  name: string,
  node: FleetNode | undefined,
  events: readonly SlotHistoryEvent[],
): Fragment[] {
  if (node === undefined)
    return [
      {
        id: 'node',
        html: html`<div id="node" class="nothing"><p>The node ${name} no longer exists.</p></div>`,
      },
    ];
  return [
    { id: 'node', html: about(node) },
    ...bays(node.slots),
    ...slotTable(node.slots),
    { id: 'events', html: slotEvents(events) },
  ];
}

export function nodePage(name: string, fragments: readonly Fragment[]): Html {
  const part = partOf(fragments);
  return html`<p class="trail"><a href="/">Fleet</a></p><h1>${name}</h1>${part('node')}${part('bays')}
<section aria-labelledby="slots-title"><h2 id="slots-title">Slots</h2>${part('slots')}</section>
<section aria-labelledby="events-title"><h2 id="events-title">Events</h2>${part('events')}</section>`;
}

function about(node: FleetNode): Html {
  const { alarms, enrolledAt, fingerprint, isSuspended, journalDepth, name } = node;
  const { refused, slots: all, state, unheldMessages } = node;
  return html`<div id="node">${facts([
    ['State', badge(statusOfNode(node))],
    ['Slots up', `${all.filter(isUp).length} of ${all.length}`],
    ['Alarms', alarms.map(plain).join(', ')],
    ['Enrolled', enrolledAt === null ? null : shownAt(enrolledAt)],
    ['Facts not yet acknowledged', journalDepth],
    ['Messages dropped: no subscriber', unheldMessages],
    ['Refused', shownRefusals(refused).join(', ')],
    ['New SIMs', isSuspended ? 'refused until you approve the node' : null],
  ])}${fingerprint === null ? '' : comparison(fingerprint)}${actionLinks([
    ...(fingerprint === null ? [] : ([['approve-node', { node: name, fingerprint }]] as const)),
    state === 'revoked'
      ? (['remove-node', { node: name }] as const)
      : (['revoke-node', { node: name }] as const),
  ])}</div>`;
}

const comparison = (fingerprint: string): Html =>
  html`<p>The fingerprint of its key is <code class="hash">${fingerprint}</code>. Approve the node only if <code>node-daemon enroll</code> printed the same fingerprint.</p>`;

/** The slots as they sit; each is a part of its own. */
function bays(slots: readonly FleetSlot[]): Fragment[] {
  const cells = slots.map((slot) => ({ id: idOf('slot', slot.node, slot.slot), html: cell(slot) }));
  return [
    {
      id: 'bays',
      html: html`<div id="bays" class="bays wide">${cells.map((each) => each.html)}</div>`,
      key: cells.map(({ id }) => id).join(' '),
    },
    ...cells,
  ];
}

const COLUMNS = ['Slot', 'State', 'Signal', 'Number', 'Carrier', 'Model', 'USB', 'Reported'];

/** As a table; each row is a part of its own. */
function slotTable(slots: readonly FleetSlot[]): Fragment[] {
  if (slots.length === 0)
    return [
      {
        id: 'slots',
        html: html`<div id="slots" class="nothing"><p>This node has not reported any slots.</p></div>`,
      },
    ];
  const rows = slots.map((slot) => ({ id: idOf('row', slot.node, slot.slot), html: row(slot) }));
  return [
    {
      id: 'slots',
      html: html`<div id="slots">${table(
        'Slots',
        COLUMNS,
        rows.map((each) => each.html),
      )}</div>`,
      key: rows.map(({ id }) => id).join(' '),
    },
    ...rows,
  ];
}

function row(slot: FleetSlot): Html {
  const { carrier, model, number, reason, signalDbm, reportedAt, use, usbPath, wallet } = slot;
  const cells = [
    html`<a href="${slotPath(slot)}">${slot.slot}</a>`,
    html`${badge(slotStatusOf(slot))}${reason === null ? '' : html` <span class="reason">${reasonWords(reason)}</span>`}`,
    signalDbm === null
      ? null
      : html`<span class="whole">${signalBars(barsOf(signalDbm))} ${signalDbm}</span>`,
    number === null
      ? null
      : html`<a href="${numberPath(number)}">${listedNumber(number, wallet !== null)}</a> <small>${use === null ? '' : USE_WORDS[use]}</small>`,
    carrier === null ? null : html`${shownCarrier(carrier)}`,
    model === null ? null : html`${model}`,
    usbPath === null ? null : html`<span class="whole">${usbPath}</span>`,
    reportedAt === null ? null : shownAt(reportedAt),
  ];
  return html`<tr id="${idOf('row', slot.node, slot.slot)}">${tableCells(COLUMNS, cells)}</tr>`;
}
