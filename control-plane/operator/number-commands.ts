// `control-plane number …`: what is sold, what is kept off the market, what comes in and goes.

import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { toJson } from '#shared/process/terminal.ts';
import { listedNumber } from '../domain/masked-number.ts';
import { shownWallet } from '../domain/masked-wallet.ts';
import { NUMBER_STATES } from '../store/numbers.ts';
import { numberSchema, reasonSchema } from './desk-inputs.ts';
import { readNumberFile } from './number-file.ts';
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
    about: 'lists the numbers: on sale or why not, where the SIM is, who has it',
    options: {
      ...WHERE,
      ...LIST_OPTIONS,
      full: FULL_OPTION,
      state: choiceOption('only those in this state', NUMBER_STATES),
      after: filterOption('the page behind this number', numberSchema),
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
            ...[number, state, iccid, node ?? '-', slot ?? '-', wallet ?? '-'],
            ...[shownTime(expires_at ?? quarantined_until), reason ?? ''],
          ]),
        );
        return shownPage(table, next);
      }),
  }),
  programCommand({
    usage: 'number out-of-service <number>',
    about: 'keeps a number off the market; who has it keeps it',
    options: { ...WHERE, reason: { about: 'why, shown in the list', schema: reasonSchema } },
    run: ({ reason, ...where }, [text]) =>
      withOperator(where, async ({ desk }) => {
        const number = checked('number', numberSchema, text);
        await desk.ask('takeOutOfService', { number, reason });
        return `${number} is out of service: it is not sold, and who has it keeps it`;
      }),
  }),
  programCommand({
    usage: 'number in-service <number>',
    about: 'ends that',
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
    about: 'takes a number that nobody has out of the fleet; "number import" brings it back',
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
    about: 'ends the quarantine of a number: it is sold again',
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
    about: 'sells the number of a SIM that was never seen before; compare its ICCID with your card first',
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
      'brings in numbers from lines of "number,iccid" or "number,iccid,node": all, or none and a line for each that is wrong',
    options: WHERE,
    run: async (where, [file]) => {
      const rows = readNumberFile(String(file));
      await withOperator(where, async ({ desk }) => {
        const { added, back, known } = await desk.ask('importNumbers', { rows });
        return `${added} added, ${back} brought back, ${known} known already`;
      });
    },
  }),
];
