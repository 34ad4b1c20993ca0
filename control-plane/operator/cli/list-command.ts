// A command that prints a listing: as a table, as JSON or as CSV.
import * as z from 'zod';
import { csvOf } from '#shared/operator/csv.ts';
import { jsonRows, type Listing, tableOf, type View } from '#shared/operator/listing.ts';
import type { AnyCommand } from '#shared/process/commands.ts';
import { type OptionSpec, type OptionsOf, type Specs, switchOption } from '#shared/process/options.ts';
import { toJson } from '#shared/process/terminal.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import type { Operator } from '../procedures/all-procedures.ts';
import { carrierSchema, findSchema, LIMIT_MAX, timeSchema } from '../procedures/fields.ts';
import { choiceOption, filterOption, JSON_OPTION, operatorCommand } from './operator-command.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_PROBLEM = `must be a whole number from 1 to ${LIMIT_MAX}`;

/** A longer list does not fit into a spreadsheet, and not well into memory. */
const CSV_ROWS_MAX = 1_000_000;

/** The form of a list. */
export const FORM_OPTIONS = {
  json: JSON_OPTION,
  csv: switchOption('Print CSV for a spreadsheet: all rows, unless --limit is given'),
};

/** For lists with pages. `listCommand` sets it where it is not given. */
export const LIMIT_OPTION = {
  limit: {
    about: `Maximum number of rows, up to ${LIMIT_MAX} (default ${LIMIT_DEFAULT}; all rows with --csv)`,
    schema: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, LIMIT_PROBLEM)
      .transform(Number)
      .refine((value) => value <= LIMIT_MAX, LIMIT_PROBLEM)
      .optional() as unknown as z.ZodType<number>,
  },
};

export const positionTextSchema = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be the number that the previous page ended with')
  .transform(Number);

/** Continues a list that is ordered by position. */
export const AFTER_POSITION = filterOption('Continue after this row', positionTextSchema);

export const CARRIER_OPTION = {
  carrier: filterOption('Only this carrier: a network code, or a part of its name', carrierSchema),
};

export const findOption = (about: string) => ({
  find: filterOption(`Only rows with this part of ${about}; at least 2 characters`, findSchema),
});

/** `what`: the time that is compared. */
export const timeOptions = (what: string) => ({
  since: filterOption(`Only those ${what} at this time or later (ISO 8601, UTC)`, timeSchema),
  until: filterOption(`Only those ${what} before this time (ISO 8601, UTC)`, timeSchema),
});

/** By the columns of the listings. */
export const sortOptions = <By extends string>(
  ...listings: readonly Pick<Listing<never, By>, 'columns'>[]
) => ({
  sort: choiceOption('Sort by this column', sortsOf(listings)),
  descending: switchOption('Sort from the last to the first, with --sort'),
});

function sortsOf<By extends string>(listings: readonly Pick<Listing<never, By>, 'columns'>[]): [By, ...By[]] {
  const sorts = listings.flatMap(({ columns }) => columns.flatMap(({ sort }) => sort ?? []));
  return [...new Set(sorts)] as [By, ...By[]];
}

/** The order as procedures take it. */
export const sortOf = <By extends string>({
  sort,
  descending,
}: {
  sort?: By | undefined;
  descending: boolean;
}) => (sort === undefined ? undefined : { by: sort, isDescending: descending });

interface Rows<Row> {
  rows: readonly Row[];
  /** The value of --after for the next page; undefined for a list without pages. */
  next?: string | number | null;
}

interface ListCommand<S extends Specs, Row> {
  usage: string;
  about: string;
  options?: S | undefined;
  listing: Listing<Row>;
  read(operator: Operator, options: OptionsOf<S>): Promise<Rows<Row>>;
}

/** A command that prints a listing. */
export const listCommand = <Row, S extends Specs = Record<never, never>>(
  command: ListCommand<S, Row>,
): AnyCommand => {
  const { usage, about, options } = command;
  return operatorCommand({
    usage,
    about,
    options: { ...FORM_OPTIONS, ...options } as S & typeof FORM_OPTIONS,
    run: (operator, given) => printedList(command, operator, given),
  });
};

type Given<S extends Specs> = OptionsOf<S & typeof FORM_OPTIONS> & {
  full?: boolean;
  limit?: number | undefined;
};

/** The list as the options want it: a table, JSON or CSV. */
export async function printedList<S extends Specs, Row>(
  { listing, options, read }: Omit<ListCommand<S, Row>, 'usage' | 'about'>,
  operator: Operator,
  given: Given<S>,
): Promise<string | { csv: string }> {
  const view = { isFull: given.full === true, nowMs: Date.now() };
  if (given.csv) {
    if (given.json) throw new OperatorRefusal('Choose one of --json and --csv.');
    return { csv: await csvText(listing, view, pages({ options, read }, operator, given)) };
  }
  const { rows, next } = await read(operator, { ...given, limit: given.limit ?? LIMIT_DEFAULT });
  if (given.json) {
    const shown = { [listing.name]: jsonRows(listing, rows, view) };
    return toJson(next === undefined ? shown : { ...shown, next });
  }
  if (rows.length === 0) return listing.empty;
  const table = tableOf(listing.columns, rows, view);
  return next === undefined || next === null ? table : `${table}\n\nThere are more: --after ${next}`;
}

/** One page with `--limit`, else all of them. */
async function* pages<S extends Specs, Row>(
  { options, read }: Pick<ListCommand<S, Row>, 'options' | 'read'>,
  operator: Operator,
  given: Given<S>,
): AsyncGenerator<readonly Row[]> {
  const after = (options as Record<string, OptionSpec> | undefined)?.['after']?.schema;
  let asked = { ...given, limit: given.limit ?? LIMIT_MAX };
  for (;;) {
    const { rows, next } = await read(operator, asked);
    yield rows;
    if (next === undefined || next === null || after === undefined) return;
    if (given.limit !== undefined) {
      process.stderr.write(`There are more: --after ${next}\n`);
      return;
    }
    asked = { ...asked, after: after.parse(String(next)) };
  }
}

async function csvText<Row>(
  listing: Listing<Row>,
  view: View,
  read: AsyncIterable<readonly Row[]>,
): Promise<string> {
  const rows: Row[] = [];
  for await (const page of read) {
    rows.push(...page);
    if (rows.length > CSV_ROWS_MAX)
      throw new OperatorRefusal(`The list has more than ${CSV_ROWS_MAX} rows. Narrow it with filters.`);
  }
  return csvOf(listing.columns, rows, view);
}
