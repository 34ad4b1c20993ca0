// `control-plane slot …`: the places for modems: whether their numbers are sold, and a modem that restarts.
import { jsonRows, recordOf } from '#shared/operator/listing.ts';
import { type ServiceState, SLOT_LIST_STATES, SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { switchOption } from '#shared/process/options.ts';
import { toJson } from '#shared/process/terminal.ts';
import { adviceOn } from '../../alerts/slot-phase.ts';
import { SLOTS } from '../listings/slots.ts';
import type { Operator } from '../procedures/all-procedures.ts';
import {
  LIMIT_MAX,
  nodeSchema,
  placeTextSchema,
  reasonSchema,
  slotInputSchema,
} from '../procedures/fields.ts';
import { AGREED_OPTION, agreeIfCustomers, agreeNaming } from './agreement.ts';
import {
  CARRIER_OPTION,
  findOption,
  LIMIT_OPTION,
  listCommand,
  sortOf,
  sortOptions,
} from './list-command.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  JSON_OPTION,
  operatorCommand,
} from './operator-command.ts';

const PLACE = '<node> <slot>';

function placeOf([node, slot]: readonly (string | undefined)[]): { node: string; slot: string } {
  return { node: checked('node', nodeSchema, node), slot: checked('slot', slotInputSchema, slot) };
}

const shownPlace = ({ node, slot }: ReturnType<typeof placeOf>): string => `${node}/${slot}`;

/** The subscriptions that the slot serves, or served last. */
async function customersIn(
  operator: Operator,
  { node, slot }: { node: string; slot: string },
): Promise<string[]> {
  const { rows } = await operator.call('subscriptions', { node, state: 'active', limit: LIMIT_MAX });
  return rows
    .filter((row) => row.slot === slot)
    .map(({ id, service }) => `Customer: ${id}, ${SLOT_STATUS[service].words}`);
}

function nextStep({ state, trouble }: { state: ServiceState; trouble: string | null }): string[] {
  const advice = adviceOn(state, trouble);
  return advice === undefined ? [] : [`Next step: ${advice}`];
}

export const SLOT_COMMANDS = [
  listCommand({
    usage: 'slot list',
    about: 'List the slots of all nodes, with their SIMs, and which are out of service.',
    options: {
      ...LIMIT_OPTION,
      ...FULL_OPTION,
      node: filterOption('Only slots of this node', nodeSchema),
      state: choiceOption('Only slots in this state', SLOT_LIST_STATES, (state) => SLOT_STATUS[state].words),
      ...CARRIER_OPTION,
      ...findOption('a slot, number, label, ICCID, IMEI or wallet'),
      ...sortOptions(SLOTS),
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
    usage: `slot show ${PLACE}`,
    about: 'Show one slot: its state, its SIM, and whether its modem is set up for calls.',
    options: { ...FULL_OPTION, json: JSON_OPTION },
    async run(operator, { full, json }, args) {
      const view = { isFull: full, nowMs: Date.now() };
      const row = await operator.call('slot', placeOf(args));
      if (json) return toJson(jsonRows(SLOTS, [row], view)[0]);
      const settings = row.voice_settings;
      const differ =
        settings === null || settings.state === 'right'
          ? []
          : [`Settings for calls differ: ${settings.detail ?? settings.why ?? 'unknown'}`];
      const customers = await customersIn(operator, row);
      return [recordOf(SLOTS.columns, row, view), ...differ, ...customers, ...nextStep(row)].join('\n');
    },
  }),
  operatorCommand({
    usage: `slot out-of-service ${PLACE}`,
    about:
      'Take the number in a slot off sale. A current subscriber keeps it: the command names the subscriber, and asks for confirmation.',
    options: { reason: { about: 'Reason, shown in the list', schema: reasonSchema }, ...AGREED_OPTION },
    async run(operator, { reason, yes }, args) {
      const place = placeOf(args);
      const done = `${shownPlace(place)} is out of service: no number in it is sold`;
      if (!yes) await operator.call('previewOutOfService', { ...place, reason });
      await agreeIfCustomers(operator, done, { of: place, effect: 'kept', isAgreed: yes });
      await operator.call('takeSlotOutOfService', { ...place, reason });
      return done;
    },
  }),
  operatorCommand({
    usage: `slot in-service ${PLACE}`,
    about: 'Put the slot back on sale, even if a probe took it off.',
    async run(operator, _, args) {
      const place = placeOf(args);
      await operator.call('putSlotInService', place);
      return `${shownPlace(place)} is in service`;
    },
  }),
  operatorCommand({
    usage: `slot transfer ${PLACE}`,
    about:
      'Give the SIM in this slot to this node, although another node still holds it. Use it only if you know that the card is there. Names the customer, and asks for confirmation.',
    options: AGREED_OPTION,
    async run(operator, { yes }, args) {
      const place = placeOf(args);
      const shown = yes ? undefined : await operator.call('previewTransfer', place);
      if (shown !== undefined) {
        const loser = shown.from === null ? '' : `, and ${shown.from} loses it`;
        const what = `node ${place.node} gets the SIM ${shown.iccid}${loser}: do this only if the card is in ${place.slot}`;
        await agreeNaming(operator, what, { of: { iccid: shown.iccid }, effect: 'kept', isAgreed: yes });
      }
      // Between question and answer the node may report another SIM.
      const { iccid, from } = await operator.call('transferSim', { ...place, expected: shown?.iccid });
      return `node ${place.node} now holds the SIM ${iccid}${from === null ? '' : `; it was at node ${from} before`}`;
    },
  }),
  operatorCommand({
    usage: `slot restart ${PLACE}`,
    about:
      'Restart the modem in a slot. If a customer has the number in it, the command names the customer, and asks for confirmation.',
    options: {
      force: switchOption('Restart the modem even during a call; the call ends'),
      ...AGREED_OPTION,
    },
    async run(operator, { force, yes }, args) {
      const place = placeOf(args);
      const what = `the modem in ${shownPlace(place)} restarts${force ? ', and a call ends' : ''}`;
      await agreeIfCustomers(operator, what, { of: place, effect: 'paused', isAgreed: yes });
      await operator.call('restartModem', { ...place, force });
      return `the modem in ${shownPlace(place)} is restarting`;
    },
  }),
];
