// `node-daemon list`: the contents of each slot.
import { jsonRows, tableOf, type View } from '#shared/operator/listing.ts';
import { programCommand } from '#shared/process/commands.ts';
import { toJson } from '#shared/process/terminal.ts';
import { SLOTS } from '../listings/slots.ts';
import { JSON_OPTION, print, WHERE, withOperator } from './with-operator.ts';

export const LIST_COMMAND = programCommand({
  usage: 'list',
  about: 'List the slots, with their modems and SIMs.',
  options: { ...WHERE, json: JSON_OPTION },
  run: ({ json, ...where }) =>
    withOperator('list', where, async (operator) => {
      const slots = await operator.call('slots', {});
      // An operator of the daemon may read its whole data folder.
      const view: View = { isFull: true, nowMs: Date.now() };
      if (json) print(toJson(jsonRows(SLOTS, slots, view), 2));
      else print(slots.length === 0 ? SLOTS.empty : tableOf(SLOTS.columns, slots, view));
    }),
});
