// `node-daemon ussd <slot> <code>`: asks the network, and shows its answer.
import * as z from 'zod';
import { EXIT_CODES } from '#shared/operator/operator-error.ts';
import { programCommand } from '#shared/process/commands.ts';
import { toJson } from '#shared/process/terminal.ts';
import { JSON_OPTION, print, printAside, timeoutOption, WHERE, withOperator } from './with-operator.ts';

export const USSD_COMMAND = programCommand({
  usage: 'ussd <slot> <code>',
  about: 'Send a USSD code such as *100# to the network and print the answer.',
  options: {
    ...WHERE,
    json: JSON_OPTION,
    timeout: timeoutOption('60, for each answer of the network'),
    reply: {
      about: 'Answers to the questions of the network, in order, separated by commas',
      schema: z
        .string()
        .transform((text) => text.split(','))
        .optional(),
    },
  },
  run: ({ json, timeout, reply: replies = [], ...where }, [slot = '', code = '']) =>
    withOperator('ussd', where, async (operator) => {
      const answer = await operator.call('ussd', { slot, code, replies, timeout_ms: timeout });
      const { text, waits, problem } = answer;
      if (json) print(toJson(answer));
      else if (text !== null) print(text);
      if (waits)
        printAside('the network asked for a reply, and the dialogue was ended: give the reply with --reply');
      if (problem === null) return;
      printAside(problem);
      process.exitCode = EXIT_CODES.refused;
    }),
});
