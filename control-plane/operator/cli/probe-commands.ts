// `control-plane probe …`: what delivery probes found, and one that is made now.
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { tableOf } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { switchOption } from '#shared/process/options.ts';
import { toJson } from '#shared/process/terminal.ts';
import { PROBE_OPTIONS } from '../../config/probe-options.ts';
import { OperatorUnfinished } from '../../domain/refusal.ts';
import { PROBE_RESULTS } from '../../store/database/operation-tables.ts';
import type { ProbeRow } from '../../store/operations/probe-list.ts';
import { CARRIER_FIGURES, PROBES, SLOT_FIGURES } from '../listings/probes.ts';
import type { Operator } from '../procedures/all-procedures.ts';
import { nodeSchema, numberSchema, PROBE_SPANS, slotInputSchema } from '../procedures/fields.ts';
import {
  AFTER_POSITION,
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  JSON_OPTION,
  LIMIT_OPTION,
  listCommand,
  operatorCommand,
} from './operator-command.ts';

const POLL_MS = 500;
/** The carrier's report comes before the wait for the recipient begins. */
const LATE_MS = 60_000;

export const PROBE_COMMANDS = [
  operatorCommand({
    usage: 'probe send <from> <to>',
    about: 'Text from one unsold number to another, wait, and report whether the text arrived.',
    options: { json: JSON_OPTION, probeTimeoutMs: PROBE_OPTIONS.probeTimeoutMs },
    async run(operator, { json, probeTimeoutMs }, [from, to]) {
      const pair = { from: checked('from', numberSchema, from), to: checked('to', numberSchema, to) };
      const { id } = await operator.call('sendTest', pair);
      const row = await ended(operator, id, probeTimeoutMs);
      if (row.result !== 'delivered') process.exitCode = 1;
      if (json) return toJson(row);
      return row.result === 'delivered'
        ? `arrived after ${((row.latency_ms ?? 0) / 1000).toFixed(1)} s`
        : `${row.result}: ${row.why}`;
    },
  }),
  listCommand({
    usage: 'probe list',
    about: 'List the delivery probes, newest first.',
    options: {
      ...LIMIT_OPTION,
      ...FULL_OPTION,
      node: filterOption('Only probes with this node at either end', nodeSchema),
      slot: filterOption('Only probes with this slot at either end', slotInputSchema),
      result: choiceOption('Only probes with this result', PROBE_RESULTS),
      after: AFTER_POSITION,
    },
    listing: PROBES,
    read: (operator, { node, slot, result, after, limit }) =>
      operator.call('probes', { node, slot, result, after, limit }),
  }),
  operatorCommand({
    usage: 'probe summary',
    about: 'Show how many probes arrived and how quickly, by carrier or by slot.',
    options: {
      json: JSON_OPTION,
      span: {
        about: `Time span: the last ${PROBE_SPANS.join(', ')}`,
        schema: z.enum(PROBE_SPANS, { error: `must be one of ${PROBE_SPANS.join(', ')}` }).default('day'),
      },
      slots: switchOption('Show the results by slot'),
    },
    async run(operator, { json, span, slots }) {
      const rows = await operator.call('probeSummary', { by: slots ? 'slot' : 'carrier', span });
      if (json) return toJson(rows);
      return tableOf(slots ? SLOT_FIGURES : CARRIER_FIGURES, rows, { isFull: false, nowMs: Date.now() });
    },
  }),
];

/** Waits until the service has ended the probe. */
async function ended(operator: Operator, id: string, timeoutMs: number): Promise<Json<ProbeRow>> {
  for (let waitedMs = 0; waitedMs < timeoutMs + LATE_MS; waitedMs += POLL_MS) {
    const row = await operator.call('probe', { id });
    if (row.result !== null) return row;
    await pause(POLL_MS);
  }
  throw new OperatorUnfinished('the probe is still in progress: "probe list" shows its result later');
}
