// The list of slots.
import { callSettingsText } from '#shared/operator/call-settings.ts';
import type { Cell, Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { CLAIM_REFUSED, CLAIMED, OUT_OF_SERVICE, SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { listedNumber } from '../../domain/shown-value.ts';
import type { SLOT_SORTS, SlotRow } from '../../store/fleet/slot-service.ts';
import { carrierCell, nodeCell, numberCell, slotCell, stateCell } from './cells.ts';

/** `text` is the state that the node reports: a slot that an operator took out of service, or its number, is `registered`. */
function slotStateCell({ is_number_out, out_of_service_at, state, trouble }: Json<SlotRow>): Cell {
  if (trouble === CLAIM_REFUSED && state !== 'node_away')
    return { status: CLAIMED, text: `${state} (${trouble})` };
  const isOut = (out_of_service_at !== null || is_number_out) && state === 'registered';
  return stateCell(isOut ? OUT_OF_SERVICE : SLOT_STATUS[state], state, trouble);
}

/** That of the slot, or of the number in it, which an operator took out of service by itself. */
const reasonCell = ({ number_out_reason: ofNumber, out_of_service_at, reason }: Json<SlotRow>): Cell =>
  out_of_service_at === null && ofNumber !== null ? `number: ${ofNumber}` : (reason ?? '');

/** Compares the settings that the modem reported with those that calls need on the network of its SIM. */
function settingsCell({ voice_settings: settings }: Json<SlotRow>): Cell {
  if (settings === null) return null;
  const isRight = settings.state === 'right';
  return {
    status: {
      health: isRight ? 'good' : 'warn',
      sign: isRight ? 'check' : 'cross',
      words: callSettingsText(settings),
    },
    text: callSettingsText(settings),
  };
}

export const SLOTS: Listing<Json<SlotRow>, keyof typeof SLOT_SORTS> = {
  name: 'slots',
  title: 'Slots',
  empty: 'No slots.',
  columns: [
    { title: 'Node', cell: ({ node }) => nodeCell(node) },
    { title: 'Slot', sort: 'slot', cell: ({ node, slot }) => slotCell(node, slot) },
    { title: 'State', sort: 'state', cell: slotStateCell },
    {
      title: 'Number',
      sort: 'number',
      cell: ({ number, is_held }, { isFull }) => numberCell(number, is_held && !isFull),
    },
    { title: 'Label', sort: 'label', cell: ({ label }) => label },
    { title: 'Carrier', sort: 'carrier', cell: ({ carrier }) => carrierCell(carrier) },
    {
      title: 'Out of service',
      sort: 'out_of_service_at',
      cell: ({ number_out_at, out_of_service_at }) => ({ time: out_of_service_at ?? number_out_at }),
    },
    { title: 'Reason', sort: 'reason', cell: reasonCell },
    { title: 'ICCID', sort: 'iccid', cell: ({ iccid }) => iccid },
    { title: 'Calls set up', sort: 'calls_set_up', cell: settingsCell },
    { title: 'IMEI', sort: 'imei', cell: ({ imei }) => imei },
  ],
  masked: (row) => ({ ...row, number: row.number && listedNumber(row.number, row.is_held) }),
};
