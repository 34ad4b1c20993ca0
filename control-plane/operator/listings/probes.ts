// The list of delivery probes, and their figures by carrier and by slot.
import type { Column, Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Status } from '#shared/operator/slot-health.ts';
import { maskedNumber } from '../../domain/shown-value.ts';
import type { PROBE_SORTS, ProbeRow, ProbeSummaryRow } from '../../store/operations/probe-list.ts';
import type { PROBED_SLOT_SORTS, ProbedSlotRow } from '../../store/operations/probed-slots.ts';
import { carrierCell, nodeCell, placeCell, secondsCell, shareCell, slotCell } from './cells.ts';

const RESULTS = {
  delivered: { health: 'good', sign: 'check', words: 'delivered' },
  failed: { health: 'bad', sign: 'cross', words: 'failed' },
  abandoned: { health: 'off', sign: 'barred', words: 'abandoned' },
} as const satisfies Record<string, Status>;
const UNDER_WAY: Status = { health: 'busy', sign: 'wait', words: 'under way' };

export const PROBES: Listing<Json<ProbeRow>, keyof typeof PROBE_SORTS> = {
  name: 'probes',
  title: 'Last probes',
  empty:
    'No probes. Set PROBE_MINUTES to let spare SIMs text each other, or send one with "control-plane probe send".',
  columns: [
    { title: 'At', sort: 'at', cell: ({ started_at }) => ({ time: started_at }) },
    { title: 'Kind', sort: 'kind', cell: ({ kind }) => kind },
    { title: 'From', sort: 'from', cell: ({ from_node, from_slot }) => placeCell(from_node, from_slot) },
    { title: 'To', sort: 'to', cell: ({ to_node, to_slot }) => placeCell(to_node, to_slot) },
    {
      title: 'Result',
      sort: 'result',
      cell({ result }) {
        const status = result === null ? UNDER_WAY : RESULTS[result];
        return { status, text: status.words };
      },
    },
    { title: 'Time', sort: 'latency', cell: ({ latency_ms }) => secondsCell(latency_ms) },
    { title: 'Reason', cell: ({ why }) => why ?? '' },
  ],
  masked: (row) => ({
    ...row,
    from_number: maskedNumber(row.from_number),
    to_number: maskedNumber(row.to_number),
  }),
};

/** Delivered, in percent of those with an end; undefined where there is none. */
const deliveredShare = ({ delivered, failed }: ProbeSummaryRow): number | undefined =>
  delivered + failed === 0 ? undefined : (100 * delivered) / (delivered + failed);

const FIGURES: readonly Column<ProbeSummaryRow>[] = [
  { title: 'Kind', cell: ({ kind }) => kind },
  {
    title: 'Success',
    cell(row) {
      const share = deliveredShare(row);
      return share === undefined ? null : shareCell(share);
    },
  },
  { title: 'Delivered', cell: ({ delivered }) => String(delivered) },
  { title: 'Failed', cell: ({ failed }) => String(failed) },
  { title: 'p50', cell: ({ p50_ms }) => secondsCell(p50_ms) },
  { title: 'p99', cell: ({ p99_ms }) => secondsCell(p99_ms) },
];

const CARRIER: Column<ProbeSummaryRow> = { title: 'Carrier', cell: ({ carrier }) => carrierCell(carrier) };

export const CARRIER_FIGURES: readonly Column<ProbeSummaryRow>[] = [CARRIER, ...FIGURES];

/** Slots of probes, one row each. */
export const PROBED_SLOTS: Listing<Json<ProbedSlotRow>, keyof typeof PROBED_SLOT_SORTS> = {
  name: 'probed_slots',
  title: 'Slots',
  empty: PROBES.empty,
  columns: [
    { title: 'Node', sort: 'node', cell: ({ node }) => nodeCell(node) },
    {
      title: 'Slot',
      sort: 'slot',
      cell: ({ node, slot }) => ({ link: { probesOf: { node, slot } }, text: slot }),
    },
    { title: 'Carrier', sort: 'carrier', cell: ({ carrier }) => carrierCell(carrier) },
    {
      title: 'Last result',
      sort: 'result',
      cell: ({ last_result: result }) => ({ status: RESULTS[result], text: result }),
    },
    { title: 'Since', sort: 'since', cell: ({ since }) => ({ time: since }) },
    { title: 'Last', sort: 'at', cell: ({ last_at }) => ({ time: last_at }) },
    { title: 'Success', sort: 'success', cell: ({ share }) => shareCell(share) },
    { title: 'Delivered', cell: ({ delivered }) => String(delivered) },
    { title: 'Failed', cell: ({ failed }) => String(failed) },
    { title: 'Reason', cell: ({ why }) => why ?? '' },
  ],
};

export const SLOT_FIGURES: readonly Column<ProbeSummaryRow>[] = [
  CARRIER,
  { title: 'Node', cell: ({ node }) => nodeCell(node) },
  { title: 'Slot', cell: ({ node, slot }) => slotCell(node, slot) },
  { title: 'Role', cell: ({ role }) => role },
  ...FIGURES,
];
