// A listing: the columns of a list, defined once and written as a terminal's table, as JSON or as HTML.
import { alignedTable } from '../process/terminal.ts';
import type { Status } from './slot-health.ts';

/** A page of the console that a cell leads to. */
export type LinkTarget =
  | { readonly number: string }
  | { readonly node: string; readonly slot?: string }
  | { readonly payment: string }
  /** The probes of a slot. */
  | { readonly probesOf: { readonly node: string; readonly slot: string } };

/** A value, which each output writes in its own way. Null is a dash; a remark that is missing is an empty text. */
export type Cell =
  | string
  | null
  /** ISO 8601. */
  | { readonly time: string | null }
  /** People read the words of the status, programs that read CSV its code: `text`. */
  | { readonly status: Status; readonly text: string }
  /** The same without a status. */
  | { readonly words: string; readonly text: string }
  | { readonly link: LinkTarget; readonly text: string };

export interface View {
  /** Show whole wallets and whole numbers of subscribers. */
  readonly isFull: boolean;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

export interface Column<Row, Sort extends string = string> {
  readonly title: string;
  /** The name by which the list can be sorted by this column. */
  readonly sort?: Sort;
  cell(row: Row, view: View): Cell;
}

/** A list of operators: numbers, payments, slots … */
export interface Listing<Row, Sort extends string = string> {
  /** Its name in JSON. */
  readonly name: string;
  readonly title: string;
  /** The text in place of an empty list. */
  readonly empty: string;
  readonly columns: readonly Column<Row, Sort>[];
  /** The row as JSON shows it without `isFull`. */
  masked?(row: Row): Row;
}

/** As aligned columns; "-" stands for no value. */
export const tableOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], view: View): string =>
  alignedTable(
    columns.map(({ title }) => title.toUpperCase()),
    rows.map((row) => columns.map(({ cell }) => textOf(cell(row, view)) ?? '-')),
  );

/** One row as lines with its titles; without the empty ones. */
export function recordOf<Row>(columns: readonly Column<Row>[], row: Row, view: View): string {
  const [first = [], ...others] = columns.flatMap(({ title, cell }) => {
    const text = textOf(cell(row, view));
    return text ? [[title, text]] : [];
  });
  return alignedTable(first, others);
}

/** The rows of a listing's JSON. */
export const jsonRows = <Row>({ masked }: Listing<Row>, rows: readonly Row[], { isFull }: View): Row[] =>
  isFull || masked === undefined ? [...rows] : rows.map((row) => masked(row));

/** The text of a cell in a terminal; null where there is none. */
function textOf(cell: Cell): string | null {
  if (cell === null || typeof cell === 'string') return cell;
  if ('time' in cell) return cell.time && shownTime(cell.time);
  if ('words' in cell) return cell.words;
  return 'status' in cell ? cell.status.words : cell.text;
}

/** To the minute, UTC. */
export const shownTime = (time: string): string => `${time.slice(0, 16).replace('T', ' ')}Z`;
