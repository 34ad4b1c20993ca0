// `control-plane slot …`: the places for modems: whether their numbers are sold, and a modem that restarts.
import { switchOption } from '#shared/process/options.ts';
import { shownCustomers } from '../../domain/shown-value.ts';
import { SLOT_LIST_STATES, SLOT_SORTS } from '../../store/fleet/slot-service.ts';
import { SLOTS } from '../listings/slots.ts';
import { nodeSchema, placeTextSchema, reasonSchema, slotInputSchema } from '../procedures/fields.ts';
import {
  CARRIER_OPTION,
  findOption,
  LIMIT_OPTION,
  listCommand,
  sortOf,
  sortOptions,
} from './list-command.ts';
import { checked, choiceOption, FULL_OPTION, filterOption, operatorCommand } from './operator-command.ts';

const PLACE = '<node> <slot>';

function placeOf([node, slot]: readonly (string | undefined)[]): { node: string; slot: string } {
  return { node: checked('node', nodeSchema, node), slot: checked('slot', slotInputSchema, slot) };
}

export const SLOT_COMMANDS = [
  listCommand({
    usage: 'slot list',
    about: 'List the slots of all nodes, with their SIMs and whether they are for sale.',
    options: {
      ...LIMIT_OPTION,
      ...FULL_OPTION,
      node: filterOption('Only slots of this node', nodeSchema),
      state: choiceOption('Only slots in this state', SLOT_LIST_STATES),
      ...CARRIER_OPTION,
      ...findOption('a slot, number, ICCID, IMEI or wallet'),
      ...sortOptions(SLOT_SORTS),
      after: filterOption('Continue after this slot, given as node/slot', placeTextSchema),
    },
    listing: SLOTS,
    async read(operator, { node, state, carrier, find, after, limit, ...given }) {
      const asked = { node, state, carrier, find, sort: sortOf(given), after, limit };
      const { rows, next } = await operator.call('slots', asked);
      return { rows, next: next && `${next.node}/${next.slot}` };
    },
  }),
  operatorCommand({
    usage: `slot out-of-service ${PLACE}`,
    about: 'Take the number in a slot off sale. A current subscriber keeps it.',
    options: { reason: { about: 'Reason, shown in the list', schema: reasonSchema } },
    async run(operator, { reason }, args) {
      const place = placeOf(args);
      await operator.call('takeSlotOutOfService', { ...place, reason });
      const customers = await operator.call('customers', place);
      const kept = customers.count === 0 ? '' : `; kept by ${shownCustomers(customers)}`;
      return `${place.node}/${place.slot} is out of service: its number is not sold${kept}`;
    },
  }),
  operatorCommand({
    usage: `slot in-service ${PLACE}`,
    about: 'Put the slot back on sale, even if a probe took it off.',
    async run(operator, _, args) {
      const place = placeOf(args);
      await operator.call('putSlotInService', place);
      return `${place.node}/${place.slot} is in service`;
    },
  }),
  operatorCommand({
    usage: `slot transfer ${PLACE}`,
    about: 'Move the SIM in a slot to the node of this slot, if another node still holds it.',
    async run(operator, _, args) {
      const place = placeOf(args);
      const { iccid, from } = await operator.call('transferSim', place);
      return `node ${place.node} now holds the SIM ${iccid}${from === null ? '' : `; it was at node ${from} before`}`;
    },
  }),
  operatorCommand({
    usage: `slot restart ${PLACE}`,
    about: 'Restart the modem in a slot.',
    options: { force: switchOption('Restart the modem even during a call; the call ends') },
    async run(operator, { force }, args) {
      const place = placeOf(args);
      await operator.call('restartModem', { ...place, force });
      return `the modem in ${place.node}/${place.slot} is restarting`;
    },
  }),
];
