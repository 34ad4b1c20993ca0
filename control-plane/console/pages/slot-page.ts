// One slot: what sits in it, how it hears the network, what happened to it.
import { shownCarrier } from '#shared/carriers/carrier-name.ts';
import { type Html, html } from '#shared/html.ts';
import type { VoiceSettings } from '#shared/link/slot.ts';
import { callSettingsDetail } from '#shared/operator/call-settings.ts';
import { reasonAdvice, reasonWords } from '#shared/operator/slot-reasons.ts';
import { listedNumber, shownWallet } from '../../domain/shown-value.ts';
import type { FleetSlot } from '../../store/fleet/fleet-nodes.ts';
import type { SoldNumber } from '../../store/fleet/sold-numbers.ts';
import type { SlotHistoryEvent } from '../../store/operations/events.ts';
import type { Span } from '../../store/operations/samples.ts';
import { nodePath, numberPath, slotPath } from '../actions/paths.ts';
import type { Fragment } from '../live/live-topic.ts';
import { actionLinks } from './confirm.ts';
import { slotEvents } from './event-lists.ts';
import { plotFigure, type Range, rangeChoice, signalPlot } from './plots.ts';
import { badge, facts, partOf, shownAt } from './shown.ts';
import { signalBars } from './signs.ts';
import { barsOf, isClaim, slotStatusOf, spareNumberOf, USE_WORDS } from './slot-status.ts';

interface SlotHistory {
  /** Paid numbers without service whose SIM was last in this slot. */
  down: readonly SoldNumber[];
  signals: ReadonlyArray<{ at: Date; dbm: number | null }>;
  span: Span;
  events: readonly SlotHistoryEvent[];
}

export function slotFragments(
  slot: FleetSlot | undefined,
  { down, signals, span, events }: SlotHistory,
): Fragment[] {
  return [
    { id: 'slot', html: slot === undefined ? gone : about(slot, down) },
    { id: 'plot-signal', html: plotFigure(signalPlot(signals, span)) },
    { id: 'events', html: slotEvents(events) },
  ];
}

const gone = html`<div id="slot" class="nothing"><p>This slot no longer exists. Its last events are below.</p></div>`;

export function slotPage(
  place: { node: string; slot: string },
  fragments: readonly Fragment[],
  range: Range,
): Html {
  const part = partOf(fragments);
  return html`<p class="trail"><a href="/">Fleet</a> / <a href="${nodePath(place.node)}">${place.node}</a></p><h1>${place.slot}</h1>${part('slot')}
<section id="plots" aria-labelledby="plots-title"><div class="heading"><h2 id="plots-title">Signal</h2>${rangeChoice(`${slotPath(place)}&`, range)}</div><div class="plots one">${part('plot-signal')}</div></section>
<section aria-labelledby="events-title"><h2 id="events-title">Events</h2>${part('events')}</section>`;
}

function settingsLine(settings: VoiceSettings): Html {
  const isRight = settings.state === 'right';
  return badge({
    health: isRight ? 'good' : 'warn',
    sign: isRight ? 'check' : 'cross',
    words: callSettingsDetail(settings),
  });
}

function about(slot: FleetSlot, down: readonly SoldNumber[]): Html {
  const { call, carrier, expiresAt, iccid, imei, isBound, label, model, node, number, numberOutReason } =
    slot;
  const { outOfService, reason, signalDbm, storage, reportedAt, usbPath, use, voiceSettings, wallet } = slot;
  const spare = spareNumberOf(slot);
  return html`<div id="slot">${facts([
    ['State', badge(slotStatusOf(slot))],
    ['Reason', reason === null ? null : reasonWords(reason)],
    ['Next step', reasonAdvice(reason) ?? null],
    ['Call', call === null ? null : `${call.direction}, ${call.state}`],
    ['Signal', signalDbm === null ? null : html`${signalBars(barsOf(signalDbm))} ${signalDbm} dBm`],
    [
      'Number',
      number === null
        ? null
        : html`<a href="${numberPath(number)}">${listedNumber(number, wallet !== null)}</a>`,
    ],
    [
      'Without service',
      down.length === 0 || number !== null
        ? null
        : html`${down.map((each) => html`<a href="${numberPath(each.number)}">${listedNumber(each.number, true)}</a>, paid until ${shownAt(each.expiresAt)} `)}`,
    ],
    [
      'Out of service',
      outOfService === null
        ? null
        : html`${outOfService.reason} <small>by ${outOfService.by}, ${shownAt(outOfService.since)}</small>`,
    ],
    ['Number out of service', numberOutReason],
    ['Use', use === null ? null : USE_WORDS[use]],
    ['Held by', wallet === null ? null : shownWallet(wallet, false)],
    ['Until', expiresAt === null ? null : shownAt(expiresAt)],
    ['Confirmed by the node', wallet === null ? null : isBound ? 'yes' : 'not yet'],
    ['Carrier', carrier && shownCarrier(carrier)],
    ['Message storage', storage === null ? null : `${storage.used} of ${storage.total}`],
    ['Set up for calls', voiceSettings === null ? null : settingsLine(voiceSettings)],
    ['Modem', model],
    ['USB', usbPath],
    ['IMEI', imei],
    ['ICCID', iccid],
    ['Label', label],
    ['Reported', reportedAt === null ? null : shownAt(reportedAt)],
  ])}${actionLinks([
    ...(isClaim(slot) ? ([['transfer-sim', { node, slot: slot.slot }]] as const) : []),
    ['restart-modem', { node, slot: slot.slot }],
    outOfService === null
      ? ['slot-out-of-service', { node, slot: slot.slot }]
      : ['slot-in-service', { node, slot: slot.slot }],
    ...(spare === undefined ? [] : ([['send-test', { from: spare }]] as const)),
  ])}</div>`;
}
