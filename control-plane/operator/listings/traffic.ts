// How the texts of subscribers ended, by carrier, node or slot.
import type { Column, Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { TRAFFIC_SORTS, TrafficGroup, TrafficRow } from '../../store/messages/traffic.ts';
import { carrierCell, nodeCell, secondsCell, shareCell, slotCell } from './cells.ts';

type Row = Json<TrafficRow>;
type Sort = keyof typeof TRAFFIC_SORTS;

/** "carrier_refused 3, expired 1": the most frequent first. */
const failuresOf = ({ failures }: Row): string =>
  Object.entries(failures)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

const FIGURES: readonly Column<Row, Sort>[] = [
  { title: 'Sent', sort: 'sent', cell: ({ sent }) => String(sent) },
  { title: 'Success', sort: 'success', cell: ({ share }) => (share === null ? null : shareCell(share)) },
  { title: 'Delivered', cell: ({ delivered }) => String(delivered) },
  { title: 'Failed', cell: ({ failed }) => String(failed) },
  { title: 'No report', cell: ({ sent, delivered, failed }) => String(sent - delivered - failed) },
  { title: 'p50', sort: 'p50', cell: ({ p50_ms }) => secondsCell(p50_ms) },
  { title: 'p95', sort: 'p95', cell: ({ p95_ms }) => secondsCell(p95_ms) },
  { title: 'Failures', cell: (row) => failuresOf(row) },
];

const listingOf = (names: readonly Column<Row, Sort>[]): Listing<Row, Sort> => ({
  name: 'traffic',
  title: 'Traffic',
  empty: 'No subscriber sent a text in this period.',
  columns: [...names, ...FIGURES],
});

const CARRIER: Column<Row, Sort> = { title: 'Carrier', cell: ({ carrier }) => carrierCell(carrier) };
const NODE: Column<Row, Sort> = { title: 'Node', cell: ({ node }) => nodeCell(node) };

export const TRAFFIC: Readonly<Record<TrafficGroup, Listing<Row, Sort>>> = {
  carrier: listingOf([{ ...CARRIER, sort: 'name' }]),
  node: listingOf([{ ...NODE, sort: 'name' }]),
  slot: listingOf([
    NODE,
    { title: 'Slot', sort: 'name', cell: ({ node, slot }) => slotCell(node, slot) },
    CARRIER,
  ]),
};

export const TRAFFIC_GROUPS = Object.keys(TRAFFIC) as [TrafficGroup, ...TrafficGroup[]];
