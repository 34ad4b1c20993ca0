// The list of slots.
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { listedNumber } from '../../domain/shown-value.ts';
import type { SlotRow } from '../../store/fleet/slot-service.ts';
import { carrierCell, nodeCell, numberCell, slotCell } from './cells.ts';

export const SLOTS: Listing<Json<SlotRow>> = {
  name: 'slots',
  title: 'Slots',
  empty: 'No slots.',
  columns: [
    { title: 'Node', cell: ({ node }) => nodeCell(node) },
    { title: 'Slot', cell: ({ node, slot }) => slotCell(node, slot) },
    { title: 'State', cell: ({ state, trouble }) => (trouble === null ? state : `${state} (${trouble})`) },
    { title: 'Number', cell: ({ number, is_held }, { isFull }) => numberCell(number, is_held && !isFull) },
    { title: 'Carrier', cell: ({ carrier }) => carrierCell(carrier) },
    { title: 'Out of service', cell: ({ out_of_service_at }) => ({ time: out_of_service_at }) },
    { title: 'Reason', cell: ({ reason }) => reason ?? '' },
  ],
  masked: (row) => ({ ...row, number: row.number && listedNumber(row.number, row.is_held) }),
};
