// `node-daemon list`: the contents of each slot.
import type { Slot } from '#shared/link/messages.ts';
import { programCommand } from '#shared/process/commands.ts';
import { alignedTable, toJson } from '#shared/process/terminal.ts';
import { JSON_OPTION, print, WHERE, withOperator } from './with-operator.ts';

const HEADER = ['SLOT', 'STATE', 'OPERATOR', 'SIGNAL', 'NUMBER', 'MODEL', 'IMEI', 'ICCID', 'USB'];

export const LIST_COMMAND = programCommand({
  usage: 'list',
  about: 'List the slots, with their modems and SIMs.',
  options: { ...WHERE, json: JSON_OPTION },
  run: ({ json, ...where }) =>
    withOperator('list', where, async (operator) => {
      const slots = await operator.call('slots', {});
      if (json) print(toJson(slots, 2));
      else if (slots.length === 0) print('no modem found, and the configuration names no slot');
      else print(alignedTable(HEADER, slots.map(rowOf)));
    }),
});

const stateOf = ({ state, reason }: Pick<Slot, 'state' | 'reason'>): string =>
  reason === null ? state : `${state} (${reason})`;

function rowOf(slot: Slot): string[] {
  const { operator, signal_dbm: signal, number, model, device_id: imei, iccid, usb_path: usbPath } = slot;
  return [
    slot.slot,
    stateOf(slot),
    operator,
    signal === null ? null : `${signal} dBm`,
    number,
    model,
    imei,
    iccid,
    usbPath,
  ].map((cell) => cell ?? '-');
}
