// Delivery probes: their figures by carrier and by slot, and the last ones.
import { type Html, html } from '#shared/html.ts';
import type { Column } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { CARRIER_FIGURES, deliveredShare, PROBES, SLOT_FIGURES } from '../../operator/listings/probes.ts';
import { PROBE_SPANS } from '../../operator/procedures/fields.ts';
import type { Page } from '../../operator/procedures/procedure.ts';
import type { ProbeRow, ProbeSummaryRow } from '../../store/operations/probe-list.ts';
import { listTable, nextPage, nothing } from './listing.ts';

interface ShownProbes {
  span: (typeof PROBE_SPANS)[number];
  carriers: readonly ProbeSummaryRow[];
  slots: readonly ProbeSummaryRow[];
  page: Json<Page<ProbeRow, number>>;
}

export function probesPage(
  { span, carriers, slots, page: { rows, next } }: ShownProbes,
  nowMs: number,
): Html {
  const choice = PROBE_SPANS.map(
    (each) =>
      html`<a href="/probes?span=${each}"${each === span ? html` aria-current="true"` : ''}>${each}</a>`,
  );
  const figures = (
    caption: string,
    columns: readonly Column<ProbeSummaryRow>[],
    counted: readonly ProbeSummaryRow[],
  ): Html =>
    counted.length === 0
      ? nothing('No probe ended in this period.')
      : listTable(caption, columns, counted, nowMs);
  return html`<div class="heading"><h1>Delivery probes</h1><nav class="ranges" aria-label="Span">${choice}</nav></div>
<section aria-labelledby="carriers-title"><h2 id="carriers-title">By carrier</h2>${figures('Probes by carrier', CARRIER_FIGURES, carriers)}</section>
<section aria-labelledby="slots-title"><h2 id="slots-title">By slot, worst first</h2>${figures('Probes by slot', SLOT_FIGURES, worstFirst(slots))}</section>
<section aria-labelledby="last-title"><h2 id="last-title">${PROBES.title}</h2>${
    rows.length === 0 ? nothing(PROBES.empty) : listTable(PROBES.title, PROBES.columns, rows, nowMs)
  }${nextPage('/probes', { span }, next)}</section>`;
}

const worstFirst = (rows: readonly ProbeSummaryRow[]): ProbeSummaryRow[] =>
  [...rows].sort((a, b) => (deliveredShare(a) ?? 101) - (deliveredShare(b) ?? 101));
