// A listing as CSV (RFC 4180): the same columns as its table, safe to open in a spreadsheet.
import { onOneLine } from '../process/terminal.ts';
import type { Cell, Column, View } from './listing.ts';

/** A telephone number, masked or not, and a negative amount are data, although they begin with a sign. */
const NUMBER = /^\+[\d…]+$|^-\d+(\.\d+)?$/;
/** Spreadsheets run such a cell as a formula. A text may come from a stranger. */
const FORMULA = /^[=+\-@\t\r]/;

/** The names of the columns, then a line for each row; every line ends with CRLF. */
export const csvOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], view: View): string =>
  csvLine(columns.map(({ title }) => title)) + csvRows(columns, rows, view);

/** Without the titles. */
export const csvRows = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], view: View): string =>
  rows.map((row) => csvLine(columns.map(({ cell }) => textOf(cell(row, view))))).join('');

const csvLine = (values: readonly string[]): string => `${values.map(field).join(',')}\r\n`;

/** No value is an empty field. Times are ISO 8601. States are their codes, which stay the same when words change. */
function textOf(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return cell;
  return 'time' in cell ? (cell.time ?? '') : cell.text;
}

function field(value: string): string {
  const isFormula = FORMULA.test(value) && !NUMBER.test(value);
  const text = onOneLine(isFormula ? `'${value}` : value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
