// One slot in the rack as a tile, with its state as a word, a sign and a color.
import { type Html, html } from '#shared/html.ts';
import type { Slot } from '#shared/link/messages.ts';
import type { NodeStatus } from './node-status.ts';
import { signalPlot } from './signal-plot.ts';
import { describedState, lookOf, SIGNS, shownDbm } from './words.ts';

/** One step for every 20 minutes, because a tile is small. */
const STEPS = 72;
/** Cache by the samples, which stay the same for a minute: pages are requested every few seconds, and calls need the processor. */
const PLOTS = new WeakMap<readonly (number | null)[], Html>();
/** The page warns before a storage is full. */
const FULL_SHARE = 0.8;

/** `place`: the text above the name, such as the port number. */
export function slotTile(slot: Slot, place: string, status: NodeStatus): Html {
  const look = lookOf(slot);
  const call = status.calls.find(({ iccid }) => iccid === slot.iccid);
  const samples = status.signalOf(slot.slot);
  const { storage, signal_dbm: signal } = slot;
  const isFull = storage !== null && storage.total > 0 && storage.used / storage.total >= FULL_SHARE;
  return html`<li class="tile ${look}" id="slot-${slot.slot}" data-live>
<p class="place"><span>${place}</span>${signal === null ? '' : html`<span>${shownDbm(signal)}</span>`}</p>
<a href="/slots/${slot.slot}">${slot.slot}</a>
<p class="state"><span class="sign" aria-hidden="true">${SIGNS[look]}</span> ${describedState(slot)}</p>
${plotOf(samples)}
${call === undefined ? '' : html`<p class="mark">${call.direction} call, ${call.state}</p>`}${isFull ? html`<p class="mark warn">storage ${storage.used} of ${storage.total}</p>` : ''}
</li>`;
}

export const emptyTile = (port: number): Html =>
  html`<li class="tile empty"><p class="place"><span>port ${port}</span></p><p>empty</p></li>`;

export const hubTile = (port: number, path: string): Html =>
  html`<li class="tile empty"><p class="place"><span>port ${port}</span></p><p><a href="#hub-${path}">hub ${path}</a></p></li>`;

function plotOf(samples: readonly (number | null)[]): Html {
  const known = PLOTS.get(samples);
  if (known !== undefined) return known;
  const hasSignal = samples.some((sample) => sample !== null);
  const plot = hasSignal ? signalPlot(samples, STEPS) : html``;
  PLOTS.set(samples, plot);
  return plot;
}
