// Options of commands: their values, read from text, and what can be asked for of the answer.
import { type Command, InvalidArgumentError } from 'commander';
import type * as z from 'zod';
import { dtmfDigitsSchema } from '#shared/voice/media.ts';
import { Output, type OutputOptions } from './output.ts';

export function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('a whole number is needed');
  return Number(text);
}

export function dateTime(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('a date, as 2027-01-31T12:00:00Z');
  return date;
}

/** Dollars with up to six decimals, in millionths. */
export function dollars(text: string): bigint {
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('dollars, as 1800 or 0.50');
  return BigInt((match[1] ?? '') + (match[2] ?? '').padEnd(6, '0'));
}

/** The amount of a payment as people write it: 1800, or 0.5. */
export const inDollars = (amount: bigint): string =>
  `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '');

export function keys(text: string): string {
  if (!dtmfDigitsSchema.safeParse(text).success) throw new InvalidArgumentError('keys are 0-9, *, #, A-D');
  return text;
}

/** A command whose answer has these fields: its help names them, and `--print` of another is refused at once. */
export function answering(command: Command, fields: readonly string[]): Command {
  return command
    .addHelpText('after', `\nAnswer: ${fields.join(', ')}`)
    .hook('preAction', () => new Output(command.optsWithGlobals<OutputOptions>()).expect(fields));
}

export const fieldsOf = ({ answer }: { answer: z.ZodObject }): string[] => Object.keys(answer.shape);
