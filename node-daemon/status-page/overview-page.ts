// The overview page: the state of the node, the rack in its layout, calls, and the latest events.
import { type Html, html } from '#shared/html.ts';
import type { ShownSlot } from '../host/shown-slots.ts';
import type { NodeStatus } from './node-status.ts';
import { eventList, page } from './page.ts';
import { type Hub, layOut } from './rack-layout.ts';
import { signalPlot } from './signal-plot.ts';
import {
  alarmText,
  counted,
  describedState,
  duration,
  LOOK_WORDS,
  type Look,
  lookOf,
  SIGNS,
  shownDbm,
} from './words.ts';

/** The page of a slot shows more events. */
const EVENTS_SHOWN = 30;

export function overviewPage(status: NodeStatus): string {
  const { hubs, others } = layOut(status.slots);
  return page(
    { title: title(status), status },
    html`<h1>${status.nodeId ?? 'This node'}</h1>
<div id="alarms" data-live>${alarms(status)}</div>
<dl class="facts" id="facts" data-live>${facts(status)}</dl>
<section aria-labelledby="rack-title">
<h2 id="rack-title">Rack</h2>
<div id="legend" data-live>${legend(status.slots)}</div>
<div id="rack" data-live-children>
${hubs.map((hub) => hubPanel(hub, status))}
${others.length === 0 ? '' : otherPanel(others, hubs.length > 0, status)}
${status.slots.length === 0 ? html`<p class="quiet" id="no-slots">This host has no modem, and the configuration has no slot. Plug in a modem: it appears within seconds.</p>` : ''}
</div>
</section>
<section aria-labelledby="calls-title"><h2 id="calls-title">Calls</h2><div id="calls" data-live>${calls(status)}</div></section>
<section aria-labelledby="events-title"><h2 id="events-title">Last events</h2>
<div id="events" data-live>${eventList(status.events.slice(0, EVENTS_SHOWN), status.now)}</div></section>`,
  );
}

/** Returns the title of the browser tab. */
function title({ nodeId = 'node', slots, alarms: troubles, isLinked }: NodeStatus): string {
  const good = slots.filter((slot) => lookOf(slot) === 'good').length;
  const trouble = troubles.length > 0 || !isLinked ? `${SIGNS.bad} ` : '';
  return `${trouble}${good}/${slots.length} · ${nodeId}`;
}

function alarms({ alarms: troubles, enrollCommand, isLinked, nodeId, controlPlane }: NodeStatus): Html {
  const link = html`No link to the control plane${controlPlane === undefined ? '' : html` at ${controlPlane}`}. Incoming messages wait in the journal, and nothing is sent.`;
  const enroll = html`This node is not enrolled: run <code>${enrollCommand}</code> with the URL and the code from the control plane.`;
  const texts = [
    ...(nodeId === undefined ? [enroll] : isLinked ? [] : [link]),
    ...troubles.map((alarm) => html`${alarmText(alarm)}`),
  ];
  if (texts.length === 0) return html``;
  return html`<ul class="alarms">${texts.map((text) => html`<li><span class="sign" aria-hidden="true">▲</span> ${text}</li>`)}</ul>`;
}

function facts(status: NodeStatus): Html {
  const { slots, isLinked, isJournalFailing, journalDepth, calls: live, now, startedAt } = status;
  const good = slots.filter((slot) => lookOf(slot) === 'good').length;
  const full = slots.filter(({ storage }) => storage !== null && storage.used >= storage.total * 0.8);
  const used = slots.reduce((sum, { storage }) => sum + (storage?.used ?? 0), 0);
  const total = slots.reduce((sum, { storage }) => sum + (storage?.total ?? 0), 0);
  const fact = (name: string, value: string, look: 'good' | 'bad' | 'plain'): Html =>
    html`<div class="${look}"><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`${[
    fact('in service', `${good} of ${slots.length}`, good === slots.length ? 'plain' : 'bad'),
    fact('link', isLinked ? 'up' : 'down', isLinked ? 'good' : 'bad'),
    fact(
      'journal',
      isJournalFailing ? 'refused' : counted(journalDepth, 'fact not acknowledged', 'facts not acknowledged'),
      isJournalFailing ? 'bad' : 'plain',
    ),
    fact('calls', String(live.length), 'plain'),
    fact('messages on SIMs', `${used} of ${total}`, full.length > 0 ? 'bad' : 'plain'),
    fact('uptime', duration(now - startedAt), 'plain'),
  ]}`;
}

function legend(slots: readonly ShownSlot[]): Html {
  return html`<ul class="legend">${(Object.keys(LOOK_WORDS) as Look[]).map((look) => {
    const count = slots.filter((slot) => lookOf(slot) === look).length;
    return html`<li class="${look}"><span class="sign" aria-hidden="true">${SIGNS[look]}</span> ${count} ${LOOK_WORDS[look]}</li>`;
  })}</ul>`;
}

function hubPanel({ path, ports }: Hub, status: NodeStatus): Html {
  const name = path.startsWith('usb') ? `Bus ${path.slice('usb'.length)}` : `Hub ${path}`;
  return html`<section class="hub" id="hub-${path}" data-live-children aria-labelledby="hub-title-${path}">
<h3 id="hub-title-${path}">${name}</h3>
<ul class="ports" id="ports-${path}" data-live-children>
${ports.flatMap((port) => {
  if (port.kind === 'empty') return [emptyTile(port.port)];
  if (port.kind === 'hub') return [hubTile(port.port, port.path)];
  return port.slots.map((slot) => slotTile(slot, `port ${port.port}`, status));
})}
</ul></section>`;
}

function otherPanel(slots: readonly ShownSlot[], isBesideHubs: boolean, status: NodeStatus): Html {
  return html`<section class="hub" id="others" data-live-children aria-labelledby="others-title">
<h3 id="others-title">${isBesideHubs ? 'Not at a USB port' : 'Slots'}</h3>
<ul class="ports" id="ports-others" data-live-children>${slots.map((slot) => slotTile(slot, '', status))}</ul></section>`;
}

function calls({ calls: live, slots, now }: NodeStatus): Html {
  if (live.length === 0) return html`<p class="quiet">No calls.</p>`;
  return html`<ul class="calls">${live.map(({ iccid, direction, state, started_at: startedAt }) => {
    const name = slots.find((slot) => slot.iccid === iccid)?.slot;
    return html`<li>${name === undefined ? html`<span>a SIM that was removed</span>` : html`<a href="/slots/${name}">${name}</a>`} <span>${direction}, ${state}, for ${duration(now - Date.parse(startedAt))}</span></li>`;
  })}</ul>`;
}

/** One step for every 20 minutes, because a tile is small. */
const STEPS = 72;
/** Cache by the samples, which stay the same for a minute: pages are requested every few seconds, and calls need the processor. */
const PLOTS = new WeakMap<readonly (number | null)[], Html>();
/** The page warns before a storage is full. */
const FULL_SHARE = 0.8;

/** `place`: the text above the name, such as the port number. */
function slotTile(slot: ShownSlot, place: string, status: NodeStatus): Html {
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

const emptyTile = (port: number): Html =>
  html`<li class="tile empty"><p class="place"><span>port ${port}</span></p><p>empty</p></li>`;

const hubTile = (port: number, path: string): Html =>
  html`<li class="tile empty"><p class="place"><span>port ${port}</span></p><p><a href="#hub-${path}">hub ${path}</a></p></li>`;

function plotOf(samples: readonly (number | null)[]): Html {
  const known = PLOTS.get(samples);
  if (known !== undefined) return known;
  const hasSignal = samples.some((sample) => sample !== null);
  const plot = hasSignal ? signalPlot(samples, STEPS) : html``;
  PLOTS.set(samples, plot);
  return plot;
}
