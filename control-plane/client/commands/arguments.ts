// Values of command options, parsed from text, and the fields of an answer that `--print` may name.
import { type Command, InvalidArgumentError } from 'commander';
import type * as z from 'zod';
import { dtmfDigitsSchema } from '#shared/voice/media.ts';
import { Output, type OutputOptions } from './output.ts';
import type { CommandSession } from './session.ts';

export function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number(text);
}

export function atLeastOne(text: string): number {
  const number = wholeNumber(text);
  if (number < 1) throw new InvalidArgumentError('must be 1 or more');
  return number;
}

export function dateTime(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('must be a time such as 2027-01-31T12:00:00Z');
  return date;
}

/** Dollars with up to six decimals, in millionths. */
export function dollars(text: string): bigint {
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('must be dollars, such as 1800 or 0.50');
  return BigInt((match[1] ?? '') + (match[2] ?? '').padEnd(6, '0'));
}

/** The amount of a payment in dollars: 1800, or 0.5. */
export const inDollars = (amount: bigint): string =>
  `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '');

export function keys(text: string): string {
  if (!dtmfDigitsSchema.safeParse(text).success)
    throw new InvalidArgumentError('keys must be 0-9, *, # or A-D');
  return text;
}

/** Names the answer's fields in the command's help, and rejects `--print` of any other at once. */
export function answering(command: Command, fields: readonly string[]): Command {
  return command
    .addHelpText(
      'after',
      `\nFields for --print: ${fields.join(', ')}\nOptions for all commands, such as --json and --wallet: simrack --help`,
    )
    .hook('preAction', () => new Output(command.optsWithGlobals<OutputOptions>()).expect(fields));
}

/** The action of a command that only asks and prints the answer. */
export const answers =
  <A extends unknown[]>(
    session: () => CommandSession,
    ask: (at: CommandSession, ...given: A) => Promise<object>,
  ) =>
  async (...given: A): Promise<void> => {
    const at = session();
    at.output.answer(await ask(at, ...given));
  };

export const fieldsOf = ({ answer }: { answer: z.ZodObject }): string[] => Object.keys(answer.shape);
