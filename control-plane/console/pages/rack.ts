// A node as it stands in the rack: its slots in their places, each with its state by colour and sign.
import { shortCarrier } from '#shared/carriers/carrier-name.ts';
import { type Html, html } from '#shared/html.ts';
import { HEALTH_STATUS } from '#shared/operator/slot-health.ts';
import { reasonWords } from '#shared/operator/slot-reasons.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import type { FleetNode, FleetSlot } from '../../store/fleet/fleet-nodes.ts';
import { nodePath, slotPath } from '../actions/paths.ts';
import type { Fragment } from '../live/live-topic.ts';
import { badge } from './shown.ts';
import { sign, signalBars } from './signs.ts';
import { barsOf, isUp, slotStatusOf, statusOfNode, USE_WORDS } from './slot-status.ts';

/** HTML id by which pages find a part. A node names its slots, with any characters. */
export const idOf = (...parts: readonly string[]): string => parts.map(encodeURIComponent).join('/');

/** The racks as one part, their heads and slots as parts of their own. */
export function rackFragments(fleet: readonly FleetNode[]): Fragment[] {
  const heads = fleet.map((node) => ({ id: idOf('rack', node.name), html: head(node) }));
  const slots = fleet.flatMap((node) =>
    node.slots.map((slot) => ({ id: idOf('slot', slot.node, slot.slot), html: cell(slot) })),
  );
  const racks = html`<div id="racks" class="racks">${
    fleet.length === 0 ? empty : fleet.map((node) => rack(node))
  }</div>`;
  const key = [...heads, ...slots].map(({ id }) => id).join(' ');
  return [{ id: 'racks', html: racks, key }, ...heads, ...slots];
}

const rack = (node: FleetNode): Html =>
  html`<article class="rack">${head(node)}<div class="bays">${node.slots.map(cell)}</div></article>`;

const empty = html`<div class="nothing"><p>No nodes yet. On the host of the service, create a code for the first one:</p>
<pre>${ownCommand('control-plane')} node add rack-1</pre></div>`;

function head(node: FleetNode): Html {
  const up = node.slots.filter(isUp).length;
  return html`<header id="${idOf('rack', node.name)}"><h3><a href="${nodePath(node.name)}">${node.name}</a></h3>${badge(
    statusOfNode(node),
  )}<span class="count">${up} of ${node.slots.length} up</span>${proportions(node.slots)}</header>`;
}

/** The share of each health, as a bar. */
function proportions(slots: readonly FleetSlot[]): Html {
  let x = 0;
  const parts = Object.keys(HEALTH_STATUS).flatMap((health) => {
    const width = (100 * slots.filter((slot) => slotStatusOf(slot).health === health).length) / slots.length;
    if (slots.length === 0 || width === 0) return [];
    const part = html`<rect class="${health}" x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="4"/>`;
    x += width;
    return [part];
  });
  return html`<svg class="proportions" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

export function cell(slot: FleetSlot): Html {
  const status = slotStatusOf(slot);
  const { carrier, number, reason, signalDbm, use } = slot;
  const tail = number === null ? '' : `…${number.slice(-4)}`;
  const trouble = status.health === 'good' || status.health === 'busy' ? '' : status.words;
  const words = [status.words, reason === null ? '' : reasonWords(reason), use === null ? '' : USE_WORDS[use]]
    .filter(Boolean)
    .join(', ');
  const signal = signalDbm === null ? '' : `, ${signalDbm} dBm`;
  return html`<a class="slot ${status.health}${use === null ? '' : ` use-${use}`}" id="${idOf('slot', slot.node, slot.slot)}" href="${slotPath(
    slot,
  )}"><span class="bay">${sign(status.sign)}<b>${slot.slot}</b>${
    slot.state === 'registered' ? signalBars(barsOf(signalDbm)) : ''
  }</span><span class="sub">${trouble === '' ? `${tail} ${carrier === null ? '' : shortCarrier(carrier)}` : trouble}</span><span class="hidden">, ${words}${signal}</span></a>`;
}

/** The meaning of the colours and signs. */
export const legend: Html = html`<p class="legend">${Object.values(HEALTH_STATUS).map(badge)}<span class="held-note">a bar on the left: the number has a subscriber</span></p>`;
