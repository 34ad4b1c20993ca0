// The first page: the whole fleet at a glance, and what it does.
import { type Html, html } from '#shared/html.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { ListedAlert } from '../../domain/alert.ts';
import type { Inventory } from '../../metrics/inventory-metrics.ts';
import type { SoldNumber } from '../../store/fleet/sold-numbers.ts';
import type { SlotHistoryEvent } from '../../store/operations/events.ts';
import type { Sample, Span } from '../../store/operations/samples.ts';
import type { Fragment } from '../live/live-topic.ts';
import { attention } from './attention.ts';
import { slotEvents } from './event-lists.ts';
import { fleetPlots, plotFigure, type Range, rangeChoice } from './plots.ts';
import { legend, rackFragments } from './rack.ts';
import { partOf, plain } from './shown.ts';
import { type TileFacts, tiles } from './tiles.ts';

interface Overview extends TileFacts {
  alerts: readonly Json<ListedAlert>[];
  down: readonly SoldNumber[];
  samples: readonly Sample[];
  span: Span;
  events: readonly SlotHistoryEvent[];
}

export function overviewFragments(overview: Overview): Fragment[] {
  const { events, fleet, samples, span, inventory } = overview;
  const available = inventory.numbers.get('available') ?? 0;
  const plots = fleetPlots(samples, span);
  return [
    { id: 'tiles', html: tiles(overview) },
    { id: 'attention', html: attention({ ...overview, available }) },
    ...rackFragments(fleet),
    ...plots.map((plot) => ({ id: `plot-${plot.id}`, html: plotFigure(plot) })),
    { id: 'money', html: money(inventory) },
    { id: 'events', html: slotEvents(events) },
  ];
}

/** The page, of its parts. */
export function overviewPage(fragments: readonly Fragment[], range: Range): Html {
  const part = partOf(fragments);
  const plots = fragments.filter(({ id }) => id.startsWith('plot-'));
  return html`<h1 class="hidden">Fleet</h1>
${part('tiles')}
${part('attention')}
<section aria-labelledby="racks-title"><h2 id="racks-title">Racks</h2>${legend}${part('racks')}</section>
<section id="plots" aria-labelledby="plots-title"><div class="heading"><h2 id="plots-title">Recent activity</h2>${rangeChoice('/?', range)}</div>
<div class="plots">${plots.map(({ html: plot }) => plot)}</div></section>
<div class="two"><section aria-labelledby="money-title"><h2 id="money-title">Payments</h2>${part('money')}</section>
<section aria-labelledby="events-title"><h2 id="events-title">Recoveries and other events</h2>${part('events')}</section></div>`;
}

function money({ payments }: Inventory): Html {
  const rows = [...payments].filter(([, count]) => count > 0);
  if (rows.length === 0) return html`<div id="money" class="nothing"><p>No payments yet.</p></div>`;
  const most = Math.max(...rows.map(([, count]) => count));
  return html`<ul id="money" class="counts">${rows.map(
    ([state, count]) =>
      html`<li><a href="/payments?state=${state}">${plain(state)}</a><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="${state}" width="${((100 * count) / most).toFixed(1)}" height="6"/></svg><b>${count}</b></li>`,
  )}</ul>`;
}
