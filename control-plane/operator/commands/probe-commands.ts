// `control-plane probe …`: what delivery probes found, and one that is made now.
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { toJson } from '#shared/process/terminal.ts';
import { PROBE_OPTIONS } from '../../config/probe-options.ts';
import { listedNumber } from '../../domain/masked-number.ts';
import { OperatorUnfinished } from '../../domain/operator-refusal.ts';
import { PROBE_RESULTS } from '../../store/database/operation-tables.ts';
import type { ProbeRow, ProbeSummaryRow } from '../../store/operations/probe-list.ts';
import type { Desk } from '../desk.ts';
import type { Told } from '../desk-answers.ts';
import { nodeSchema, numberSchema, PROBE_SPANS, slotSchema } from '../desk-inputs.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  JSON_OPTION,
  LIST_OPTIONS,
  shownPage,
  shownTime,
  WHERE,
  withOperator,
} from './where.ts';

const POLL_MS = 500;
/** The word of the carrier comes before that of the recipient is waited for. */
const LATE_MS = 60_000;

const seconds = (ms: number | null): string => (ms === null ? '-' : `${(ms / 1000).toFixed(1)} s`);

export const PROBE_COMMANDS = [
  programCommand({
    usage: 'probe send <from> <to>',
    about: 'Text from one unsold number to another, wait, and report whether the text arrived.',
    options: { ...WHERE, json: JSON_OPTION, probeTimeoutMs: PROBE_OPTIONS.probeTimeoutMs },
    run: ({ json, probeTimeoutMs, ...where }, [from, to]) =>
      withOperator(where, async ({ desk }) => {
        const pair = { from: checked('from', numberSchema, from), to: checked('to', numberSchema, to) };
        const { id } = await desk.ask('sendTest', pair);
        const row = await ended(desk, id, probeTimeoutMs);
        if (row.result !== 'delivered') process.exitCode = 1;
        if (json) return toJson(row);
        return row.result === 'delivered'
          ? `arrived after ${seconds(row.latency_ms)}`
          : `${row.result}: ${row.why}`;
      }),
  }),
  programCommand({
    usage: 'probe list',
    about: 'List the delivery probes, newest first.',
    options: {
      ...WHERE,
      ...LIST_OPTIONS,
      full: FULL_OPTION,
      node: filterOption('Only those with this node at either end', nodeSchema),
      slot: filterOption('Only those with this slot at either end', slotSchema),
      result: choiceOption('Only those with this result', PROBE_RESULTS),
      after: filterOption(
        'Continue after this position',
        z
          .string()
          .regex(/^[1-9]\d{0,14}$/, 'must be a position')
          .transform(Number),
      ),
    },
    run: ({ node, slot, result, after, limit, json, full, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const { rows, next } = await desk.ask('probes', { node, slot, result, after, limit });
        const shown = rows.map((row) => ({
          ...row,
          from_number: listedNumber(row.from_number, !full),
          to_number: listedNumber(row.to_number, !full),
        }));
        if (json) return toJson({ probes: shown, next });
        const table = alignedTable(['AT', 'KIND', 'FROM', 'TO', 'RESULT', 'TIME', ''], rows.map(shownProbe));
        return shownPage(table, next === null ? null : String(next));
      }),
  }),
  programCommand({
    usage: 'probe summary',
    about: 'Show how many probes arrived and how quickly, by carrier or by slot.',
    options: {
      ...WHERE,
      json: JSON_OPTION,
      span: {
        about: `Time span: the last ${PROBE_SPANS.join(', ')}`,
        schema: z.enum(PROBE_SPANS, { error: `must be one of ${PROBE_SPANS.join(', ')}` }).default('day'),
      },
      slots: switchOption('Show the results by slot'),
    },
    run: ({ json, span, slots, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const rows = await desk.ask('probeSummary', { by: slots ? 'slot' : 'carrier', span });
        if (json) return toJson(rows);
        const place = slots ? ['NODE', 'SLOT', 'ROLE'] : [];
        return alignedTable(
          ['CARRIER', ...place, 'KIND', 'DELIVERED', 'FAILED', 'P50', 'P99'],
          rows.map((row) => shownSummary(row, slots)),
        );
      }),
  }),
];

/** The service ends a probe in its time. */
async function ended(desk: Desk, id: string, timeoutMs: number): Promise<Told<ProbeRow>> {
  for (let waitedMs = 0; waitedMs < timeoutMs + LATE_MS; waitedMs += POLL_MS) {
    const row = await desk.ask('probe', { id });
    if (row.result !== null) return row;
    await pause(POLL_MS);
  }
  throw new OperatorUnfinished('it is under way still: "probe list" tells its end');
}

const shownProbe = (row: Told<ProbeRow>): string[] => [
  shownTime(row.started_at),
  row.kind,
  `${row.from_node}/${row.from_slot}`,
  `${row.to_node}/${row.to_slot}`,
  row.result ?? 'under way',
  seconds(row.latency_ms),
  row.why ?? '',
];

function shownSummary(row: Told<ProbeSummaryRow>, isBySlot: boolean): string[] {
  const total = row.delivered + row.failed;
  const share = total === 0 ? '-' : `${row.delivered} (${Math.round((row.delivered / total) * 100)} %)`;
  return [
    row.carrier ?? '-',
    ...(isBySlot ? [row.node ?? '-', row.slot ?? '-', row.role ?? '-'] : []),
    row.kind,
    share,
    String(row.failed),
    seconds(row.p50_ms),
    seconds(row.p99_ms),
  ];
}
