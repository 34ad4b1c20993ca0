// Delivery probes: how many arrive and how quickly, by carrier and by slot, and the last ones.

import { type Html, html } from '#shared/html.ts';
import { maskedNumber } from '../../domain/masked-number.ts';
import type { Page, Told } from '../../operator/desk-answers.ts';
import type { ProbeRow, ProbeSummaryRow } from '../../store/operations/probe-list.ts';
import { further, nothing } from './lists.ts';
import { badge, shownAt, slotLink, table } from './shown.ts';
import type { Look } from './slot-look.ts';

const SPANS = ['hour', 'day', 'week'] as const;
const GOOD_PERCENT = 95;

export interface ShownProbes {
  span: (typeof SPANS)[number];
  carriers: readonly ProbeSummaryRow[];
  slots: readonly ProbeSummaryRow[];
  page: Told<Page<ProbeRow, number>>;
}

export function probesPage({ span, carriers, slots, page }: ShownProbes): Html {
  const choice = SPANS.map(
    (each) =>
      html`<a href="/probes?span=${each}"${each === span ? html` aria-current="true"` : ''}>${each}</a>`,
  );
  return html`<div class="heading"><h1>Delivery probes</h1><nav class="ranges" aria-label="Span">${choice}</nav></div>
<section aria-labelledby="carriers-title"><h2 id="carriers-title">By carrier</h2>${summary('Probes by carrier', carriers)}</section>
<section aria-labelledby="slots-title"><h2 id="slots-title">By slot, the worst on top</h2>${summary('Probes by slot', worstFirst(slots))}</section>
<section aria-labelledby="last-title"><h2 id="last-title">The last ones</h2>${
    page.rows.length === 0
      ? nothing('None yet. PROBE_MINUTES lets spare SIMs text each other; a slot has a button for one.')
      : table('Last probes', ['At', 'Kind', 'From', 'To', 'Result', 'Took', 'Why'], page.rows.map(line))
  }${further('/probes', { span }, page.next)}</section>`;
}

const shareOf = ({ delivered, failed }: ProbeSummaryRow): number | undefined =>
  delivered + failed === 0 ? undefined : (100 * delivered) / (delivered + failed);

const worstFirst = (rows: readonly ProbeSummaryRow[]): ProbeSummaryRow[] =>
  [...rows].sort((a, b) => (shareOf(a) ?? 101) - (shareOf(b) ?? 101));

const summary = (caption: string, rows: readonly ProbeSummaryRow[]): Html =>
  rows.length === 0
    ? nothing('No probe has come to its end in this time.')
    : table(caption, ['What', 'Kind', 'Success', 'Delivered', 'Failed', 'p50', 'p99'], rows.map(counted));

function counted(row: ProbeSummaryRow): Html {
  const { carrier, delivered, failed, kind, node, p50_ms, p99_ms, role, slot } = row;
  const what =
    node === null || slot === null
      ? html`${carrier ?? 'unknown carrier'}`
      : html`${slotLink({ node, slot })} <small>${role ?? ''}</small>`;
  const share = shareOf(row);
  const look: Look =
    share === undefined
      ? { tone: 'off', sign: 'wait', words: '–' }
      : {
          tone: share >= GOOD_PERCENT ? 'good' : share > 0 ? 'warn' : 'bad',
          sign: share >= GOOD_PERCENT ? 'check' : 'cross',
          words: `${Math.round(share)} %`,
        };
  return html`<tr><th scope="row">${what}</th><td>${kind}</td><td>${badge(look)}</td><td>${delivered}</td><td>${failed}</td><td>${seconds(p50_ms)}</td><td>${seconds(p99_ms)}</td></tr>`;
}

const seconds = (ms: number | null): string => (ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`);

const RESULTS: Readonly<Record<'delivered' | 'failed' | 'abandoned' | 'open', Look>> = {
  delivered: { tone: 'good', sign: 'check', words: 'delivered' },
  failed: { tone: 'bad', sign: 'cross', words: 'failed' },
  abandoned: { tone: 'off', sign: 'barred', words: 'abandoned' },
  open: { tone: 'busy', sign: 'wait', words: 'on its way' },
};

function line(probe: Told<ProbeRow>): Html {
  const {
    from_node,
    from_number,
    from_slot,
    kind,
    latency_ms,
    result,
    started_at,
    to_node,
    to_number,
    to_slot,
    why,
  } = probe;
  const end = (node: string, slot: string, number: string): Html =>
    html`${slotLink({ node, slot })} <small>${maskedNumber(number)}</small>`;
  return html`<tr><td>${shownAt(started_at)}</td><td>${kind}</td><td>${end(from_node, from_slot, from_number)}</td><td>${end(
    to_node,
    to_slot,
    to_number,
  )}</td><td>${badge(RESULTS[result ?? 'open'])}</td><td>${seconds(latency_ms)}</td><td>${why ?? ''}</td></tr>`;
}
