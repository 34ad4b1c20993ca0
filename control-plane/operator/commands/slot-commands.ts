// `control-plane slot …`: the places for modems: whether their numbers are sold, and a modem that is to restart.
import * as z from 'zod';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { toJson } from '#shared/process/terminal.ts';
import { listedNumber } from '../../domain/masked-number.ts';
import { nodeSchema, reasonSchema, slotSchema } from '../desk-inputs.ts';
import {
  checked,
  FULL_OPTION,
  filterOption,
  LIST_OPTIONS,
  shownPage,
  shownTime,
  WHERE,
  withOperator,
} from './where.ts';

const PLACE = '<node> <slot>';

function placeOf([node, slot]: readonly (string | undefined)[]): { node: string; slot: string } {
  return { node: checked('node', nodeSchema, node), slot: checked('slot', slotSchema, slot) };
}

/** As it is shown: "rack-7/m3". */
const afterSchema = z
  .string()
  .regex(/^[a-z0-9-]{1,32}\/./, 'must be node/slot, for example rack-7/m3')
  .transform((text) => {
    const [node = '', ...slot] = text.split('/');
    return { node, slot: slot.join('/') };
  });

export const SLOT_COMMANDS = [
  programCommand({
    usage: 'slot list',
    about: 'List the slots of all nodes, with their SIMs and whether they are for sale.',
    options: {
      ...WHERE,
      ...LIST_OPTIONS,
      full: FULL_OPTION,
      node: filterOption('Only those of this node', nodeSchema),
      after: filterOption('Continue after this slot, given as node/slot', afterSchema),
    },
    run: ({ node, after, limit, json, full, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const { rows, next } = await desk.ask('slots', { node, after, limit });
        const shown = rows.map((row) => ({
          ...row,
          number: row.number && listedNumber(row.number, row.is_held && !full),
        }));
        if (json) return toJson({ slots: shown, next });
        const table = alignedTable(
          ['NODE', 'SLOT', 'STATE', 'NUMBER', 'CARRIER', 'OUT OF SERVICE', ''],
          shown.map((row) => [
            row.node,
            row.slot,
            row.trouble === null ? row.state : `${row.state} (${row.trouble})`,
            row.number ?? '-',
            row.carrier ?? '-',
            row.out_of_service_at === null ? '-' : shownTime(row.out_of_service_at),
            row.reason ?? '',
          ]),
        );
        return shownPage(table, next === null ? null : `${next.node}/${next.slot}`);
      }),
  }),
  programCommand({
    usage: `slot out-of-service ${PLACE}`,
    about: 'Take the number in a slot off sale. A current subscriber keeps it.',
    options: { ...WHERE, reason: { about: 'Reason, shown in the list', schema: reasonSchema } },
    run: ({ reason, ...where }, words) =>
      withOperator(where, async ({ desk }) => {
        const place = placeOf(words);
        await desk.ask('takeSlotOutOfService', { ...place, reason });
        return `${place.node}/${place.slot} is out of service: its number is not sold, and who has it keeps it`;
      }),
  }),
  programCommand({
    usage: `slot in-service ${PLACE}`,
    about: 'Put the slot back on sale, even if a probe took it off.',
    options: WHERE,
    run: (where, words) =>
      withOperator(where, async ({ desk }) => {
        const place = placeOf(words);
        await desk.ask('putSlotInService', place);
        return `${place.node}/${place.slot} is in service`;
      }),
  }),
  programCommand({
    usage: `slot transfer ${PLACE}`,
    about: 'Move the SIM in a slot to the node of this slot, if another node still holds it.',
    options: WHERE,
    run: (where, words) =>
      withOperator(where, async ({ desk }) => {
        const place = placeOf(words);
        const { iccid, from } = await desk.ask('transferSim', place);
        return `the SIM ${iccid} is of ${place.node} now${from === null ? '' : `, and of ${from} no more`}`;
      }),
  }),
  programCommand({
    usage: `slot restart ${PLACE}`,
    about: 'Restart the modem in a slot.',
    options: { ...WHERE, force: switchOption('Restart it even if a call is up; the call ends') },
    run: ({ force, ...where }, words) =>
      withOperator(where, async ({ desk }) => {
        const place = placeOf(words);
        await desk.ask('restartModem', { ...place, force });
        return `the modem in ${place.node}/${place.slot} restarts`;
      }),
  }),
];
