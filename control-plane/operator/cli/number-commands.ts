// `control-plane number …`: what is sold, what is kept off the market, what comes in and goes.
import { NUMBER_STATES } from '../../domain/number-state.ts';
import { cardFields } from '../../domain/shown-value.ts';
import { NUMBER_STATUS, NUMBERS } from '../listings/numbers.ts';
import type { Operator } from '../procedures/all-procedures.ts';
import { cardTextSchema, nodeSchema, numberSchema, reasonSchema } from '../procedures/fields.ts';
import { AGREED_OPTION, agree, agreeIfCustomers, agreeNaming } from './agreement.ts';
import {
  CARRIER_OPTION,
  findOption,
  LIMIT_OPTION,
  listCommand,
  sortOf,
  sortOptions,
} from './list-command.ts';
import { checked, choiceOption, FULL_OPTION, filterOption, operatorCommand } from './operator-command.ts';

const numberOf = ([text]: readonly string[]): string => checked('number', numberSchema, text);

/** A command about one number that needs nothing else. */
const numberCommand = (
  command: { usage: string; about: string },
  procedure: 'putInService' | 'releaseNumber' | 'admitNumber',
  done: (number: string) => string,
) =>
  operatorCommand({
    ...command,
    async run(operator: Operator, _, args) {
      const number = numberOf(args);
      await operator.call(procedure, { number });
      return done(number);
    },
  });

export const NUMBER_COMMANDS = [
  listCommand({
    usage: 'number list',
    about: 'List the numbers, with their state, SIM and subscriber.',
    options: {
      ...LIMIT_OPTION,
      ...FULL_OPTION,
      state: choiceOption('Only numbers in this state', NUMBER_STATES, (state) => NUMBER_STATUS[state].words),
      node: filterOption('Only numbers whose SIM is in this node', nodeSchema),
      ...CARRIER_OPTION,
      ...findOption('a number, label, ICCID, IMEI, wallet or slot'),
      ...sortOptions(NUMBERS),
      after: filterOption('Continue after this number, the last one of the previous page', numberSchema),
    },
    listing: NUMBERS,
    read: (operator, { state, node, carrier, find, after, limit, ...given }) =>
      operator.call('numbers', { state, node, carrier, find, sort: sortOf(given), after, limit }),
  }),
  operatorCommand({
    usage: 'number out-of-service <number>',
    about:
      'Take a number off sale. A current subscriber keeps it: the command names the subscriber, and asks for confirmation.',
    options: { reason: { about: 'Reason, shown in the list', schema: reasonSchema }, ...AGREED_OPTION },
    async run(operator, { reason, yes }, args) {
      const number = numberOf(args);
      const done = `${number} is out of service: it is not sold again`;
      await agreeIfCustomers(operator, done, { of: { number }, effect: 'kept', isAgreed: yes });
      await operator.call('takeOutOfService', { number, reason });
      return done;
    },
  }),
  numberCommand(
    { usage: 'number in-service <number>', about: 'Put the number back on sale.' },
    'putInService',
    (number) => `${number} is in service`,
  ),
  operatorCommand({
    usage: 'number retire <number>',
    about: 'Remove an unsold number from the fleet. "control-plane number import" brings it back.',
    options: AGREED_OPTION,
    async run(operator, { yes }, args) {
      const number = numberOf(args);
      const done = `${number} is retired, even if a SIM still reports it`;
      if (!yes) await operator.call('previewRetire', { number });
      await agree(`${done}\nIt has no subscriber`, yes);
      await operator.call('retire', { number });
      return done;
    },
  }),
  operatorCommand({
    usage: 'number move <number>',
    about:
      'Give a number to another card, one that the carrier issued for it. A subscriber keeps the number.',
    options: {
      to: { about: 'ICCID of the new card, or the slot that it is in, as node/slot', schema: cardTextSchema },
      reason: { about: 'Reason, stored in the audit log', schema: reasonSchema },
      ...AGREED_OPTION,
    },
    async run(operator, { to, reason, yes }, args) {
      const number = numberOf(args);
      const move = { number, card: to, reason };
      const shown = yes ? undefined : await operator.call('previewMove', move);
      if (shown !== undefined) {
        const what = `${number} gets the SIM ${shown.to}; its present card, ${shown.from}, has no number then${takenOver(shown)}`;
        await agreeNaming(operator, what, { of: { number }, effect: 'kept', isAgreed: yes });
      }
      const cards = await operator.call('moveNumber', { ...move, expected: shown?.to });
      return `${number} has the SIM ${cards.to} now; it had ${cards.from}`;
    },
  }),
  numberCommand(
    {
      usage: 'number release <number>',
      about: 'End the quarantine of a number, so that it can be sold.',
    },
    'releaseNumber',
    (number) => `${number} has left quarantine`,
  ),
  numberCommand(
    {
      usage: 'number admit <number>',
      about: 'Put the number of a new SIM on sale. Compare its ICCID with your card first.',
    },
    'admitNumber',
    (number) => `${number} is admitted: it is sold like any other`,
  ),
  operatorCommand({
    usage: 'number import <file>',
    about:
      'Import numbers from lines of "number,iccid" or "number,iccid,node". If a line is wrong, import nothing and list the wrong lines.',
    async run(operator, _, [file]) {
      const { readNumberFile } = await import('./number-file.ts');
      const { added, back, known } = await operator.call('importNumbers', {
        rows: readNumberFile(String(file)),
      });
      return `${added} added, ${back} brought back, ${known} already known`;
    },
  }),
];

/** A line about what the fleet file says of the present card; empty if that is nothing. */
const takenOver = ({ taken }: { taken: readonly string[] }): string =>
  taken.length === 0 ? '' : `\nThe new card takes over the ${cardFields(taken)}`;
