// Delivery probes: their figures by carrier, one row for each slot, and the last ones.
import { type Html, html } from '#shared/html.ts';
import type { Column } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { CARRIER_FIGURES, PROBED_SLOTS, PROBES } from '../../operator/listings/probes.ts';
import { PROBE_SPANS } from '../../operator/procedures/fields.ts';
import type { ProbeRow, ProbeSummaryRow } from '../../store/operations/probe-list.ts';
import type { ProbedSlotRow } from '../../store/operations/probed-slots.ts';
import { listTable, nothing } from './listing.ts';

interface ShownProbes {
  span: (typeof PROBE_SPANS)[number];
  carriers: readonly ProbeSummaryRow[];
  /** The worst first. */
  slots: readonly Json<ProbedSlotRow>[];
  last: readonly Json<ProbeRow>[];
}

export function probesPage({ span, carriers, slots, last }: ShownProbes, nowMs: number): Html {
  const choice = PROBE_SPANS.map(
    (each) =>
      html`<a href="/probes?span=${each}"${each === span ? html` aria-current="true"` : ''}>${each}</a>`,
  );
  const figures = <Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html =>
    rows.length === 0 ? nothing('No probe ended in this period.') : listTable(caption, columns, rows, nowMs);
  return html`<div class="heading"><h1>Delivery probes</h1><nav class="ranges" aria-label="Span">${choice}</nav></div>
<section aria-labelledby="carriers-title"><h2 id="carriers-title">By carrier</h2>${figures('Probes by carrier', CARRIER_FIGURES, carriers)}</section>
<section aria-labelledby="slots-title"><h2 id="slots-title">By slot, worst first</h2>${figures('Probes by slot', PROBED_SLOTS.columns, slots)}</section>
<section aria-labelledby="last-title"><h2 id="last-title">${PROBES.title}</h2>${
    last.length === 0 ? nothing(PROBES.empty) : listTable(PROBES.title, PROBES.columns, last, nowMs)
  }<p class="actions"><a class="button" href="/probes/all">All probes</a></p></section>`;
}
