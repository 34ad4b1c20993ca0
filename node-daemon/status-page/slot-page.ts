// The page of one slot: its state, its signal over a day in detail, its events.
import { shownCarrier } from '#shared/carriers/carrier-name.ts';
import { type Html, html } from '#shared/html.ts';
import { callSettingsDetail } from '#shared/operator/call-settings.ts';
import type { ShownSlot } from '../host/shown-slots.ts';
import type { NodeStatus } from './node-status.ts';
import { eventList, page } from './page.ts';
import { describedSignal, signalPlot } from './signal-plot.ts';
import { describedState, lookOf, maskedIccid, SIGNS, shownDbm } from './words.ts';

/** One step for every five minutes. */
const STEPS = 288;
const SCALE_DBM = [-51, -82, -113];
const HOURS_AGO = [24, 18, 12, 6, 0];

/** Returns `undefined` if the slot does not exist. */
export function slotPage(name: string, status: NodeStatus): string | undefined {
  const slot = status.slots.find((each) => each.slot === name);
  if (slot === undefined) return undefined;
  const look = lookOf(slot);
  const samples = status.signalOf(name);
  return page(
    { title: `${SIGNS[look]} ${name} · ${status.nodeId ?? 'node'}`, status },
    html`<p><a href="/">All slots</a></p>
<h1>${name}</h1>
<p class="health ${look}" id="state" data-live><span class="sign" aria-hidden="true">${SIGNS[look]}</span> ${describedState(slot)}</p>
<dl class="facts" id="facts" data-live>${facts(slot, status)}</dl>
<section aria-labelledby="signal-title"><h2 id="signal-title">Signal</h2>
<div id="signal" data-live>${chart(samples)}</div></section>
<section aria-labelledby="events-title"><h2 id="events-title">Last events</h2>
<div id="events" data-live>${eventList(
      status.events.filter((event) => event.slot === name),
      status.now,
    )}</div></section>`,
  );
}

function facts(slot: ShownSlot, { calls }: NodeStatus): Html {
  const {
    iccid,
    model,
    operator,
    signal_dbm: signal,
    storage,
    usb_path: usbPath,
    failed_step: failed = null,
    voice_settings: settings = null,
  } = slot;
  const call = calls.find((each) => each.iccid === iccid);
  const rows: [string, string | null][] = [
    ['signal', signal === null ? null : shownDbm(signal)],
    ['carrier', operator && shownCarrier(operator)],
    ['storage', storage === null ? null : `${storage.used} of ${storage.total}`],
    ['call', call === undefined ? 'none' : `${call.direction}, ${call.state}`],
    ...(failed === null ? [] : [['failed recovery', failed] satisfies [string, string]]),
    ...(settings === null
      ? []
      : [['set up for calls', callSettingsDetail(settings)] satisfies [string, string]]),
    ['modem', model],
    ['USB port', usbPath],
    ['SIM', iccid === null ? null : maskedIccid(iccid)],
  ];
  return html`${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value ?? '–'}</dd></div>`)}`;
}

function chart(samples: readonly (number | null)[]): Html {
  return html`<figure class="chart"><div class="scale" aria-hidden="true">${SCALE_DBM.map((dbm) => html`<span>${shownDbm(dbm)}</span>`)}</div>
${signalPlot(samples, STEPS)}
<div class="hours" aria-hidden="true">${HOURS_AGO.map((hours) => html`<span>${hours === 0 ? 'now' : `−${hours} h`}</span>`)}</div>
<figcaption>${describedSignal(samples)}.</figcaption></figure>`;
}
