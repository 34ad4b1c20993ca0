// `control-plane operator add | list | remove`: who may sign in to the console.

import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { toJson } from '#shared/process/terminal.ts';
import { operatorNameSchema } from '../desk-inputs.ts';
import { checked, JSON_OPTION, shownTime, WHERE, withOperator } from './where.ts';

export const OPERATOR_COMMANDS = [
  programCommand({
    usage: 'operator add <name>',
    about: 'Create an operator and print the key for the console, once.',
    options: WHERE,
    run: (where, [text]) =>
      withOperator(where, async ({ desk }) => {
        const name = checked('name', operatorNameSchema, text);
        const { key } = await desk.ask('addOperator', { name });
        return `${key}\n\nThis is the key of ${name}. It is not shown again: only its hash is kept.`;
      }),
  }),
  programCommand({
    usage: 'operator list',
    about: 'List the operators of the console and their sessions.',
    options: { ...WHERE, json: JSON_OPTION },
    run: ({ json, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const operators = await desk.ask('operators', {});
        if (json) return toJson({ operators });
        return alignedTable(
          ['OPERATOR', 'SINCE', 'SIGNED IN', 'SEEN'],
          operators.map(({ name, created_at, sessions, used_at }) => [
            name,
            shownTime(created_at),
            String(sessions),
            shownTime(used_at),
          ]),
        );
      }),
  }),
  programCommand({
    usage: 'operator remove <name>',
    about: 'Revoke the key of an operator and end all sessions at once.',
    options: WHERE,
    run: (where, [text]) =>
      withOperator(where, async ({ desk }) => {
        const name = checked('name', operatorNameSchema, text);
        await desk.ask('removeOperator', { name });
        return `${name} is removed: the key is void, and no session of it is open`;
      }),
  }),
];
