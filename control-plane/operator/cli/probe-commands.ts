// `control-plane probe …`: what delivery probes found, and one that is made now.
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { tableOf } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { type OptionsOf, switchOption } from '#shared/process/options.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { toJson } from '#shared/process/terminal.ts';
import { PROBE_OPTIONS } from '../../config/probe-options.ts';
import { OperatorUnfinished } from '../../domain/refusal.ts';
import { PROBE_KINDS, PROBE_RESULTS } from '../../store/database/operation-tables.ts';
import type { PROBE_SORTS, ProbeRow } from '../../store/operations/probe-list.ts';
import type { PROBED_SLOT_SORTS } from '../../store/operations/probed-slots.ts';
import { CARRIER_FIGURES, PROBED_SLOTS, PROBES, SLOT_FIGURES } from '../listings/probes.ts';
import type { Operator } from '../procedures/all-procedures.ts';
import {
  nodeSchema,
  numberSchema,
  PROBE_SPANS,
  placeTextSchema,
  slotInputSchema,
} from '../procedures/fields.ts';
import {
  CARRIER_OPTION,
  FORM_OPTIONS,
  LIMIT_OPTION,
  positionTextSchema,
  printedList,
  sortOf,
  sortOptions,
  timeOptions,
} from './list-command.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  JSON_OPTION,
  operatorCommand,
} from './operator-command.ts';

type Sort = keyof typeof PROBE_SORTS;
type SlotSort = keyof typeof PROBED_SLOT_SORTS;

const POLL_MS = 500;
/** The carrier's report comes before the wait for the recipient begins. */
const LATE_MS = 60_000;

const spanOption = (fallback: (typeof PROBE_SPANS)[number]) => ({
  about: `Time span: the last ${PROBE_SPANS.join(', ')}`,
  schema: z.enum(PROBE_SPANS, { error: `must be one of ${PROBE_SPANS.join(', ')}` }).default(fallback),
});

const OF_PROBES = 'with --slot or --all';

const PROBE_LIST_OPTIONS = {
  ...LIMIT_OPTION,
  ...FULL_OPTION,
  all: switchOption('List all probes'),
  node: filterOption('Only this node; of probes, at either end', nodeSchema),
  slot: filterOption('List the probes with this slot at either end', slotInputSchema),
  ...CARRIER_OPTION,
  result: choiceOption('Only slots with this last result, or probes with this result', PROBE_RESULTS),
  kind: choiceOption(`Only probes of this kind, ${OF_PROBES}`, PROBE_KINDS),
  ...timeOptions(`that began (${OF_PROBES})`),
  span: spanOption('week'),
  ...sortOptions<Sort | SlotSort>(PROBED_SLOTS, PROBES),
  after: filterOption(
    'Continue after this row, the last one of the previous page',
    z
      .string()
      .regex(/^([1-9]\d{0,14}|[a-z0-9-]{1,32}\/.{1,64})$/, 'must be what the previous page ended with'),
  ),
};
type ProbeListOptions = OptionsOf<typeof PROBE_LIST_OPTIONS>;

function readProbes(operator: Operator, options: ProbeListOptions) {
  const { node, slot, carrier, result, kind, since, until, after, limit, ...given } = options;
  const filters = { node, slot, carrier, result, kind, since, until };
  const position = after === undefined ? undefined : checked('--after', positionTextSchema, after);
  // The procedure refuses a column of the other list.
  const sort = sortOf(given) as { by: Sort; isDescending: boolean } | undefined;
  return operator.call('probes', { ...filters, sort, after: position, limit });
}

async function readProbedSlots(operator: Operator, options: ProbeListOptions) {
  const { node, carrier, result, span, after, limit, ...given } = options;
  const place = after === undefined ? undefined : checked('--after', placeTextSchema, after);
  const sort = sortOf(given) as { by: SlotSort; isDescending: boolean } | undefined;
  const { rows, next } = await operator.call('probedSlots', {
    node,
    carrier,
    result,
    span,
    sort,
    after: place,
    limit,
  });
  return { rows, next: next && `${next.node}/${next.slot}` };
}

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
  operatorCommand({
    usage: 'probe list',
    about:
      'Show the last result and the success of each slot that probes used. With --slot or --all, list the probes, newest first.',
    options: { ...FORM_OPTIONS, ...PROBE_LIST_OPTIONS },
    run: (operator, given) =>
      given.all || given.slot !== undefined
        ? printedList({ listing: PROBES, options: PROBE_LIST_OPTIONS, read: readProbes }, operator, given)
        : printedList(
            { listing: PROBED_SLOTS, options: PROBE_LIST_OPTIONS, read: readProbedSlots },
            operator,
            given,
          ),
  }),
  operatorCommand({
    usage: 'probe summary',
    about: 'Show how many probes arrived and how quickly, by carrier or by slot.',
    options: {
      json: JSON_OPTION,
      span: spanOption('day'),
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
  throw new OperatorUnfinished(
    `The probe is still in progress: "${ownCommand('control-plane')} probe list" shows its result later.`,
  );
}
