// The two kinds of operator commands: one that prints the text of an answer, and one that prints a list.
import * as z from 'zod';
import { jsonRows, type Listing, shownTime, tableOf } from '#shared/operator/listing.ts';
import { type AnyCommand, programCommand } from '#shared/process/commands.ts';
import { type OptionsOf, type Specs, switchOption } from '#shared/process/options.ts';
import { onLines, toJson } from '#shared/process/terminal.ts';
import { OPTIONS } from '../../config/config.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { shownCustomers } from '../../domain/shown-value.ts';
import type { Operator } from '../procedures/all-procedures.ts';
import { LIMIT_MAX } from '../procedures/fields.ts';

const { databaseUrl, dataDir, host, port, publicUrl } = OPTIONS;

/** Where a command finds the service's data. */
const WHERE = { databaseUrl, dataDir };
type Where = OptionsOf<typeof WHERE>;

/** For a command that names the URL of the service. */
export const URL_OPTIONS = { host, port, publicUrl };
type Url = OptionsOf<typeof URL_OPTIONS>;
const urlOf = (given: Partial<Url>): string =>
  (given.publicUrl ?? `http://${given.host}:${given.port}`).replace(/\/+$/, '');

const LIMIT_DEFAULT = 100;
const LIMIT_PROBLEM = `must be a whole number from 1 to ${LIMIT_MAX}`;

export const JSON_OPTION = switchOption('Print JSON');
const JSON_OPTIONS = { json: JSON_OPTION };
export const FULL_OPTION = {
  full: switchOption('Show wallets and subscribers’ numbers unmasked'),
};

/** For lists with pages. */
export const LIMIT_OPTION = {
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

/** Continues a list that is ordered by position. */
export const AFTER_POSITION = filterOption(
  'Continue after this row',
  z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be the number that the previous page ended with')
    .transform(Number),
);

interface OperatorCommand<S extends Specs> {
  usage: string;
  about: string;
  options?: S;
  /** Works also where there is no database yet. */
  mayCreate?: boolean;
  /** Returns the text to print. */
  run(operator: Operator, options: OptionsOf<S> & Where, args: readonly string[]): Promise<string>;
}

/** A command that opens the operator API, prints what `run` returns, and closes it. */
export const operatorCommand = <S extends Specs = Record<never, never>>({
  usage,
  about,
  options,
  mayCreate = false,
  run,
}: OperatorCommand<S>): AnyCommand =>
  programCommand({
    usage,
    about,
    options: { ...WHERE, ...options },
    async run(given, args) {
      const where = given as OptionsOf<S> & Where & Partial<Url>;
      // Help and bad options do not need it.
      const { openOperator } = await import('../open-operator.ts');
      const operator = await openOperator({ ...where, url: urlOf(where) }, { mayCreate });
      try {
        process.stdout.write(`${onLines(await run(operator, where, args))}\n`);
      } finally {
        await operator.close();
      }
    },
  });

interface Rows<Row> {
  rows: readonly Row[];
  /** The value of --after for the next page; undefined for a list without pages. */
  next?: string | number | null;
}

interface ListCommand<S extends Specs, Row> {
  usage: string;
  about: string;
  options?: S;
  listing: Listing<Row>;
  read(operator: Operator, options: OptionsOf<S & typeof JSON_OPTIONS>): Promise<Rows<Row>>;
}

/** A command that prints a listing as a table, or as JSON. */
export const listCommand = <Row, S extends Specs = Record<never, never>>({
  usage,
  about,
  options,
  listing,
  read,
}: ListCommand<S, Row>): AnyCommand =>
  operatorCommand({
    usage,
    about,
    options: { ...JSON_OPTIONS, ...options } as S & typeof JSON_OPTIONS,
    async run(operator, given) {
      const { rows, next } = await read(operator, given);
      const view = { isFull: (given as { full?: unknown }).full === true, nowMs: Date.now() };
      if (given.json) {
        const shown = { [listing.name]: jsonRows(listing, rows, view) };
        return toJson(next === undefined ? shown : { ...shown, next });
      }
      if (rows.length === 0) return listing.empty;
      const table = tableOf(listing.columns, rows, view);
      return next === undefined || next === null ? table : `${table}\n\nThere are more: --after ${next}`;
    },
  });

/** For what takes something from customers. */
export const YES_OPTION = { yes: switchOption('Do it, although customers lose their service') };

/** Throws with the customers who would lose their service. */
export async function refuseCutOff(
  operator: Operator,
  place: { node: string; slot?: string },
): Promise<void> {
  const customers = await operator.call('customers', place);
  if (customers.count === 0) return;
  throw new OperatorRefusal(
    `this takes the service of ${shownCustomers(customers)}\nnothing was done: run the command with --yes to do it`,
  );
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

/** To the minute, UTC; "-" for nothing. */
export const timeOrDash = (time: string | null): string => (time === null ? '-' : shownTime(time));
