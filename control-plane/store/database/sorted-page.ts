// A page of rows that are sorted by one of their columns, and the parts of a list that match a text.
import { type RawBuilder, sql } from 'kysely';
import { OperatorRefusal } from '../../domain/refusal.ts';

/** A column that a list may be sorted by, and the direction. */
export interface Sort<By extends string = string> {
  by: By;
  isDescending: boolean;
}

interface SortedPage<By extends string> {
  /** The columns that distinguish rows; the order without `sort`, and among equal values. */
  key: readonly string[];
  /** Orders the key as people count: m2 before m10. */
  isNatural?: boolean;
  /** Expressions by the name of their column. They must never be null: a null is neither before nor after a row. */
  sorts: Readonly<Record<By, RawBuilder<unknown>>>;
  sort: Sort<By> | undefined;
  /** The key of the last row of the previous page. */
  after: readonly (string | number)[] | undefined;
  /** Direction without `sort`. */
  isNewestFirst?: boolean;
  /** The table or subquery behind `listed`, where that is no CTE. */
  source?: RawBuilder<unknown>;
}

interface PageParts {
  where: RawBuilder<boolean>;
  order: RawBuilder<unknown>;
  /** The last row of the previous page, where its value in the database decides which rows follow. */
  last: RawBuilder<boolean> | undefined;
}

/** For a statement that selects from `listed`: the rows beyond the previous page, and the order. */
export function sortedPage<By extends string>(page: SortedPage<By>): PageParts {
  const { after, isNatural = false, isNewestFirst = false, key, sort, sorts, source = sql`listed` } = page;
  const isDescending = sort?.isDescending ?? isNewestFirst;
  const keys = key.map((name) => sql.ref(`listed.${name}`));
  // The key itself too: names with the same place in the natural order are still two rows.
  const ordered = <Part extends RawBuilder<unknown>>(parts: readonly Part[]) =>
    isNatural ? [...parts.map(naturally), ...parts] : parts;
  const columns = [...(sort === undefined ? [] : [sorts[sort.by]]), ...ordered(keys)];
  const direction = isDescending ? sql`desc` : sql`asc`;
  const order = sql.join(columns.map((column) => sql`${column} ${direction}`));
  const comparison = isDescending ? sql`<` : sql`>`;
  const isKey = (values: readonly (string | number)[]) =>
    sql<boolean>`(${sql.join(keys)}) = (${sql.join([...values])})`;
  // Single values, and not a row of a subquery: only then an index leads to the page.
  const last = (values: readonly (string | number)[]) =>
    sql.join([
      ...(sort === undefined ? [] : [sql`(select ${sorts[sort.by]} from ${source} where ${isKey(values)})`]),
      ...ordered(values.map((value) => sql`${value}${isNatural ? sql`::text` : sql``}`)),
    ]);
  return {
    where:
      after === undefined
        ? sql<boolean>`true`
        : sql<boolean>`(${sql.join([...columns])}) ${comparison} (${last(after)})`,
    order,
    last: after === undefined || sort === undefined ? undefined : isKey(after),
  };
}

/**
 * Reads the rows that match `where`. Throws `OperatorRefusal` if the last row of the previous page is gone: no row follows one without a value,
 * and the list would seem to end there.
 */
export async function readPage<Row>(
  { where, last }: PageParts,
  read: (where: RawBuilder<boolean>) => Promise<Row[]>,
): Promise<Row[]> {
  const rows = await read(where);
  if (rows.length === 0 && last !== undefined && (await read(last)).length === 0)
    throw new OperatorRefusal('The row to go on from is gone: start again.');
  return rows;
}

/** For a column that may be null. */
export const textOrder = (column: string): RawBuilder<unknown> =>
  sql`coalesce(${sql.ref(`listed.${column}`)}::text, '')`;

/** For a text, as people count: m2 before m10. The same order as `compareNaturally`. */
const naturally = (text: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`regexp_replace(regexp_replace(lower(${text}), '([0-9]+)', '00000000000000000000\\1', 'g'),
    '0*([0-9]{20})(?![0-9])', '\\1', 'g') collate "C"`;

/** For a column, as people count. */
export const naturalOrder = (column: string): RawBuilder<unknown> => naturally(sql.ref(column));

/** Nulls are the oldest. */
export const timeOrder = (column: string): RawBuilder<unknown> =>
  sql`coalesce(${sql.ref(`listed.${column}`)}, '-infinity'::timestamptz)`;

/**
 * True if one of the columns of `listed` contains the text, in capitals or not. Columns `node` and `slot` also match as `node/slot`. A
 * telephone number may be written with spaces, dots, dashes and brackets.
 */
export function contains(columns: readonly string[], text: string): RawBuilder<boolean> {
  const values: RawBuilder<unknown>[] = columns.map((column) => sql.ref(`listed.${column}`));
  if (columns.includes('node') && columns.includes('slot'))
    values.push(sql`listed.node || '/' || listed.slot`);
  const row = sql`lower(concat_ws(chr(10), ${sql.join(values)}))`;
  const isIn = (part: string): RawBuilder<boolean> => sql<boolean>`strpos(${row}, ${part}) > 0`;
  const digits = writtenDigits(text);
  const literal = isIn(text.toLowerCase());
  return digits === undefined ? literal : sql<boolean>`(${literal} or ${isIn(digits)})`;
}

/** Fewer digits without a plus or bracket may be a place on the bus, such as 1-1.2. */
const TELEPHONE_DIGITS_MIN = 6;

/** The digits of a telephone number, or of a part of one, as people write it; undefined for any other text. */
function writtenDigits(text: string): string | undefined {
  if (!/^[+\d\s().-]+$/.test(text)) return undefined;
  const digits = text.replace(/[\s().-]/g, '');
  return digits.length >= (/^[+(]/.test(text) ? 3 : TELEPHONE_DIGITS_MIN) ? digits : undefined;
}

/** All of the conditions. */
export const allOf = (conditions: ReadonlyArray<RawBuilder<boolean> | undefined>): RawBuilder<boolean> =>
  sql<boolean>`(${sql.join(
    [sql`true`, ...conditions.filter((condition) => condition !== undefined)],
    sql` and `,
  )})`;
