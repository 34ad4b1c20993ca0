// Where an operator's commands find the service's data, and the options that all of them or all lists have.
import * as z from 'zod';
import { type OptionsOf, switchOption } from '#shared/process/options.ts';
import { onLines } from '#shared/process/terminal.ts';
import { OPTIONS } from '../../config/config.ts';
import { LIMIT_MAX } from '../desk-inputs.ts';
import type { Operator } from '../open-operator.ts';

const { databaseUrl, dataDir, host, port, publicUrl } = OPTIONS;

export const WHERE = { databaseUrl, dataDir, host, port, publicUrl };
export type Where = OptionsOf<typeof WHERE>;

const LIMIT_DEFAULT = 100;
const LIMIT_PROBLEM = `must be a whole number from 1 to ${LIMIT_MAX}`;

export const JSON_OPTION = switchOption('Print JSON');
export const FULL_OPTION = switchOption('Show whole wallets and whole numbers of subscribers');

/** The options of every list. */
export const LIST_OPTIONS = {
  json: JSON_OPTION,
  limit: {
    about: `Maximum number of rows, up to ${LIMIT_MAX}`,
    schema: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, LIMIT_PROBLEM)
      .default(String(LIMIT_DEFAULT))
      .transform(Number)
      .refine((value) => value <= LIMIT_MAX, LIMIT_PROBLEM),
  },
} as const;

/** An option with a value that is left out unless it is given as a flag. */
export const filterOption = <S extends z.ZodType>(about: string, schema: S) => ({
  about,
  schema: schema.optional(),
});

/** A filter by one of `values`. */
export const choiceOption = <V extends readonly [string, ...string[]]>(about: string, values: V) =>
  filterOption(
    `${about}: ${values.join(', ')}`,
    z.enum(values, { error: `must be one of ${values.join(', ')}` }),
  );

/** Opens what the operator works with, prints what `work` says, and closes it. `mayCreate`: also where there is nothing yet. */
export async function withOperator(
  where: Where,
  work: (operator: Operator) => Promise<string>,
  options: { mayCreate?: boolean } = {},
): Promise<void> {
  const url = (where.publicUrl ?? `http://${where.host}:${where.port}`).replace(/\/+$/, '');
  // Help, and what is wrong with the options, are said without it.
  const { openOperator } = await import('../open-operator.ts');
  const operator = await openOperator({ ...where, url }, options);
  try {
    process.stdout.write(`${onLines(await work(operator))}\n`);
  } finally {
    await operator.close();
  }
}

/** An argument or option as its schema wants it. Throws with what it must be. */
export function checked<S extends z.ZodType>(
  about: string,
  schema: S,
  text: string | undefined,
): z.output<S> {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Error(`the ${about} ${parsed.error.issues[0]?.message}`);
}

/** A page of a list: rows, and how to see those behind them. */
export function shownPage(table: string, next: string | null): string {
  return next === null ? table : `${table}\n\nThere are more: --after ${next}`;
}

/** To the minute, UTC; "-" for nothing. */
export const shownTime = (time: string | null): string =>
  time === null ? '-' : `${time.slice(0, 16).replace('T', ' ')}Z`;
