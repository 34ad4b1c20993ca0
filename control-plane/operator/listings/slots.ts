// The list of slots.
import type { Cell, Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { reasonWords } from '#shared/operator/slot-reasons.ts';
import { listedNumber } from '../../domain/shown-value.ts';
import type { SlotRow } from '../../store/fleet/slot-service.ts';
import { carrierCell, nodeCell, numberCell, slotCell } from './cells.ts';

function stateCell({ state, trouble }: Json<SlotRow>): Cell {
  const status = SLOT_STATUS[state];
  if (trouble === null) return { status, text: state };
  const words = `${status.words}: ${reasonWords(trouble)}`;
  return { status: { ...status, words }, text: `${state} (${trouble})` };
}

export const SLOTS: Listing<Json<SlotRow>> = {
  name: 'slots',
  title: 'Slots',
  empty: 'No slots.',
  columns: [
    { title: 'Node', cell: ({ node }) => nodeCell(node) },
    { title: 'Slot', sort: 'slot', cell: ({ node, slot }) => slotCell(node, slot) },
    { title: 'State', sort: 'state', cell: stateCell },
    {
      title: 'Number',
      sort: 'number',
      cell: ({ number, is_held }, { isFull }) => numberCell(number, is_held && !isFull),
    },
    { title: 'Carrier', sort: 'carrier', cell: ({ carrier }) => carrierCell(carrier) },
    {
      title: 'Out of service',
      sort: 'out_of_service_at',
      cell: ({ out_of_service_at }) => ({ time: out_of_service_at }),
    },
    { title: 'Reason', sort: 'reason', cell: ({ reason }) => reason ?? '' },
    { title: 'ICCID', sort: 'iccid', cell: ({ iccid }) => iccid },
    { title: 'IMEI', sort: 'imei', cell: ({ imei }) => imei },
  ],
  masked: (row) => ({ ...row, number: row.number && listedNumber(row.number, row.is_held) }),
};
