// `node-daemon at <slot> <command>`: one AT command line, in turn with the daemon's own.
import { EXIT_CODES } from '#shared/operator/operator-error.ts';
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { onOneLine } from '#shared/process/terminal.ts';
import { TIMEOUT_SECONDS } from '../../at/command-timeout.ts';
import { print, printAside, timeoutOption, WHERE, withOperator } from './with-operator.ts';

export const AT_COMMAND = programCommand({
  usage: 'at <slot> <command>',
  about:
    'Send an AT command line to a modem and print the answer. Without --unsafe, only commands that change nothing are allowed.',
  options: {
    ...WHERE,
    unsafe: switchOption('Also allow commands that may change settings, lose messages or take minutes'),
    timeout: timeoutOption(`${TIMEOUT_SECONDS.min} to ${TIMEOUT_SECONDS.max}, depending on the command`),
  },
  run: ({ unsafe, timeout: timeoutMs, ...where }, [slot = '', command = '']) =>
    withOperator('at', where, async (operator) => {
      const asked = { slot, command, unsafe, timeout_ms: timeoutMs };
      const { lines, final, ok } = await operator.call('at', asked);
      for (const line of [...lines, final]) print(onOneLine(line));
      if (ok) return;
      process.exitCode = EXIT_CODES.refused;
      const meaning = await meaningOf(final);
      if (meaning !== undefined) printAside(meaning);
    }),
});

/** The name of an error code in its standard. */
async function meaningOf(final: string): Promise<string | undefined> {
  const match = /^\+(CME|CMS) ERROR: (\d+)$/.exec(final);
  if (match === null) return undefined;
  const { cmeMeaning, cmsMeaning } = await import('../../modem/sms/sms-errors.ts');
  const code = Number(match[2]);
  return (match[1] === 'CME' ? cmeMeaning(code) : cmsMeaning(code)).name;
}
