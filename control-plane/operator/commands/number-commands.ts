// `control-plane number …`: what is sold, what is kept off the market, what comes in and goes.

import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { toJson } from '#shared/process/terminal.ts';
import { listedNumber } from '../../domain/masked-number.ts';
import { shownWallet } from '../../domain/masked-wallet.ts';
import { NUMBER_STATES } from '../../domain/number-state.ts';
import { numberSchema, reasonSchema } from '../desk-inputs.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  LIST_OPTIONS,
  shownPage,
  shownTime,
  WHERE,
  withOperator,
} from './where.ts';

export const NUMBER_COMMANDS = [
  programCommand({
    usage: 'number list',
    about: 'List the numbers, with their state, SIM and subscriber.',
    options: {
      ...WHERE,
      ...LIST_OPTIONS,
      full: FULL_OPTION,
      state: choiceOption('Only those in this state', NUMBER_STATES),
      after: filterOption('Continue after this number', numberSchema),
    },
    run: ({ state, after, limit, json, full, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const { rows, next } = await desk.ask('numbers', { state, after, limit });
        const shown = rows.map((row) => ({
          ...row,
          number: listedNumber(row.number, row.wallet !== null && !full),
          wallet: row.wallet && shownWallet(row.wallet, full),
        }));
        if (json) return toJson({ numbers: shown, next });
        const table = alignedTable(
          ['NUMBER', 'STATE', 'ICCID', 'NODE', 'SLOT', 'WALLET', 'UNTIL', ''],
          shown.map(({ number, state, iccid, node, slot, wallet, expires_at, quarantined_until, reason }) => [
            number,
            state,
            iccid,
            node ?? '-',
            slot ?? '-',
            wallet ?? '-',
            shownTime(expires_at ?? quarantined_until),
            reason ?? '',
          ]),
        );
        return shownPage(table, next);
      }),
  }),
  programCommand({
    usage: 'number out-of-service <number>',
    about: 'Take a number off sale. A current subscriber keeps it.',
    options: { ...WHERE, reason: { about: 'Reason, shown in the list', schema: reasonSchema } },
    run: ({ reason, ...where }, [text]) =>
      withOperator(where, async ({ desk }) => {
        const number = checked('number', numberSchema, text);
        await desk.ask('takeOutOfService', { number, reason });
        return `${number} is out of service: it is not sold, and who has it keeps it`;
      }),
  }),
  programCommand({
    usage: 'number in-service <number>',
    about: 'Put the number back on sale.',
    options: WHERE,
    run: (where, [text]) =>
      withOperator(where, async ({ desk }) => {
        const number = checked('number', numberSchema, text);
        await desk.ask('putInService', { number });
        return `${number} is in service`;
      }),
  }),
  programCommand({
    usage: 'number retire <number>',
    about: 'Remove an unsold number from the fleet. "number import" brings it back.',
    options: WHERE,
    run: (where, [text]) =>
      withOperator(where, async ({ desk }) => {
        const number = checked('number', numberSchema, text);
        await desk.ask('retire', { number });
        return `${number} is retired, whatever its SIM tells`;
      }),
  }),
  programCommand({
    usage: 'number release <number>',
    about: 'End the quarantine of a number, so that it can be sold.',
    options: WHERE,
    run: (where, [text]) =>
      withOperator(where, async ({ desk }) => {
        const number = checked('number', numberSchema, text);
        await desk.ask('releaseNumber', { number });
        return `${number} is in quarantine no more`;
      }),
  }),
  programCommand({
    usage: 'number admit <number>',
    about: 'Put the number of a new SIM on sale. Compare its ICCID with your card first.',
    options: WHERE,
    run: (where, [text]) =>
      withOperator(where, async ({ desk }) => {
        const number = checked('number', numberSchema, text);
        await desk.ask('admitNumber', { number });
        return `${number} is admitted: it is sold like any other`;
      }),
  }),
  programCommand({
    usage: 'number import <file>',
    about:
      'Import numbers from lines of "number,iccid" or "number,iccid,node". If a line is wrong, import nothing and list the wrong lines.',
    options: WHERE,
    run: async (where, [file]) => {
      const { readNumberFile } = await import('./number-file.ts');
      const rows = readNumberFile(String(file));
      await withOperator(where, async ({ desk }) => {
        const { added, back, known } = await desk.ask('importNumbers', { rows });
        return `${added} added, ${back} brought back, ${known} known already`;
      });
    },
  }),
];
