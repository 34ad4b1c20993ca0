// A command line of an operator on the AT channel, in turn with the daemon's own: its answer, and how it ended.
import * as z from 'zod';
import { messageOf } from '#shared/error-message.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import {
  AtError,
  AtTimeoutError,
  BusyError,
  CallFailedError,
  CmeError,
  CmsError,
  PortClosedError,
  QueueFullError,
} from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { type AtCommand, atCommand } from '../../at/command.ts';
import { commandsOf } from './at-safety.ts';

/** The answer of a modem to a command line. */
export const atAnswerSchema = z.object({
  /** Information responses, as the modem gave them. */
  lines: z.array(z.string()),
  /** Final result code: "OK", "ERROR", "+CME ERROR: 30", "NO CARRIER" … */
  final: z.string(),
  ok: z.boolean(),
});
export type AtAnswer = z.infer<typeof atAnswerSchema>;

/** Lines without a name that no answer begins with: the modem says them by itself. */
const UNSOLICITED_WORDS = [
  'RING',
  'NO CARRIER',
  'BUSY',
  'NO ANSWER',
  'NO DIALTONE',
  'CONNECT',
  'VOICE CALL',
  'MISSED_CALL',
  'RDY',
  'PB DONE',
  'SMS DONE',
  'SMS READY',
  'CALL READY',
  'NORMAL POWER DOWN',
  'POWERED DOWN',
].join('|');
/** The name that begins a line: "+CSQ", "^HCSQ". */
const NAME = /^[+^*$%][A-Z0-9]+/i;
/** ATI of some makes lists capabilities. */
const NAMES_OF_BASIC = ['+GCAP'];
/** One line answers; an equal line before it is a URC. */
const SINGLE = /^\+C(5G|G|E)?REG\?$/;

/** Gives the line to the modem. Throws `OperatorError`. */
export async function askModem(
  channel: AtChannel,
  line: string,
  { timeoutMs, turnMs }: { timeoutMs?: number | undefined; turnMs?: number | undefined },
): Promise<AtAnswer> {
  const command = operatorCommand(line, timeoutMs);
  try {
    const information = await channel.send(command, 'normal', { turnMs });
    const lines = information.flatMap(({ line, body }) => (body === undefined ? [line] : [line, body]));
    return { lines, final: 'OK', ok: true };
  } catch (error) {
    return { lines: [], final: finalOf(error, command), ok: false };
  }
}

/** The names of the commands in a line. Its parameters may be a number or a PIN, also where their "=" is missing. */
export const namesOf = (line: string): string =>
  (commandsOf(line) ?? [])
    .flatMap((command) => NAME.exec(command)?.[0].replace(/\d{2,}.*/, '') ?? [])
    .join(';') || 'AT';

/** The command with its answer: lines that begin with its name, and lines without any name. */
export function operatorCommand(line: string, timeoutMs: number | undefined): AtCommand {
  const text = line.trim();
  const commands = commandsOf(text) ?? [];
  const names = [
    ...commands.flatMap((command) => NAME.exec(command)?.[0] ?? []),
    ...(commands.some((command) => !NAME.test(command)) ? NAMES_OF_BASIC : []),
  ];
  const isCall = commands.some((command) => /^[DA]/.test(command));
  return atCommand(text, {
    answer: answerOf(names),
    answerSingle: commands.length === 1 && SINGLE.test(commands[0] ?? ''),
    bodyAfter: /^\+CMG[LR]:/,
    endsLikeCall: isCall,
    shownAs: namesOf(text),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

/** Lines that begin with one of the names, or with none at all. */
function answerOf(names: readonly string[]): RegExp {
  const named = names.map((name) => `${name.replace(/[+^*$]/, '\\$&')}(?![A-Z0-9])`);
  return new RegExp(`^(?:${[...named, `(?!${NAME.source.slice(1)}|${UNSOLICITED_WORDS}).`].join('|')})`, 'i');
}

function finalOf(error: unknown, { timeoutMs }: AtCommand): string {
  if (error instanceof CmeError) return `+CME ERROR: ${error.code}`;
  if (error instanceof CmsError) return `+CMS ERROR: ${error.code}`;
  if (error instanceof CallFailedError) return error.result;
  if (error instanceof AtTimeoutError) {
    throw new OperatorError('unanswered', `the modem gave no answer in ${timeoutMs / 1000} s`, error);
  }
  if (error instanceof BusyError) throw new OperatorError('unavailable', error.message, error);
  if (error instanceof PortClosedError)
    throw new OperatorError('unavailable', 'the modem disconnected', error);
  if (error instanceof QueueFullError) {
    throw new OperatorError('unavailable', 'too many commands wait for the modem', error);
  }
  if (error instanceof AtError && error.message.endsWith(': ERROR')) return 'ERROR';
  throw new OperatorError('refused', messageOf(error), error);
}
