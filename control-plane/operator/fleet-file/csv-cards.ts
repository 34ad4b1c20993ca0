// A fleet file as CSV (RFC 4180), as spreadsheets write it: the names of the columns, then a line for each card.
import { CsvError, parse } from 'csv-parse/sync';
import type * as z from 'zod';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { closest } from '#shared/process/suggestion.ts';
import {
  CARD_FIELD_NAMES,
  CARD_FIELDS,
  type CardField,
  type FleetRow,
  fleetRowSchema,
  repeated,
} from './card-schema.ts';

/** A longer line is not one of a fleet file: a quote was not closed. */
const LINE_LENGTH_MAX = 4_096;

const ICCID = /^\d{18,22}$/;

interface Parsed {
  record: string[];
  info: { lines: number };
}

/** Returns the cards. Throws `OperatorError` with a line for each problem. */
export function csvCards(text: string): FleetRow[] {
  const all = records(text);
  const begin = all.findIndex(({ record }) => !isComment(record));
  const titles = all[begin];
  if (titles === undefined) throw new OperatorError('refused', 'it is empty');
  const problems: Problem[] = [];
  const fields = fieldsOf(titles, problems);
  const iccidAt = fields.indexOf('iccid');
  // A label may begin with #, too.
  const isCard = ({ record }: Parsed): boolean =>
    !isComment(record) || ICCID.test(record[iccidAt]?.trim() ?? '');
  const lines = all.slice(begin + 1).filter(isCard);
  const written = lines.map(({ record, info: { lines: line } }) => {
    if (record.length !== fields.length)
      problems.push({ line, text: `has ${record.length} fields, the first line has ${fields.length}` });
    const values = fields.flatMap((field, index) =>
      field === undefined ? [] : [[field, record[index]?.trim()]],
    );
    return { line, ...Object.fromEntries(values) };
  });
  const rows = written.flatMap((card) => {
    const parsed = fleetRowSchema.safeParse(card);
    if (parsed.success) return [parsed.data];
    // Without the column, it is missing in every line.
    for (const issue of parsed.error.issues)
      if (iccidAt !== -1 || issue.path[0] !== 'iccid')
        problems.push({ line: card.line, text: problemText(issue, card as Record<string, unknown>) });
    return [];
  });
  for (const [index, field, earlier] of repeated(written as FleetRow[]))
    problems.push({
      line: written[index]?.line ?? 0,
      text: `${field}: is already in line ${written[earlier]?.line}`,
    });
  if (problems.length > 0) throw new OperatorError('refused', problemLines(problems));
  return rows;
}

interface Problem {
  line: number;
  text: string;
}

/** In the order of the file. */
const problemLines = (problems: readonly Problem[]): string =>
  [...problems]
    .sort((one, other) => one.line - other.line)
    .map(({ line, text }) => `line ${line}: ${text}`)
    .join('\n');

/** A wrong PIN is not shown. */
function problemText({ path, message }: z.core.$ZodIssue, card: Readonly<Record<string, unknown>>): string {
  const field = String(path[0]);
  const value = card[field];
  const shown = field === 'pin' || typeof value !== 'string' || value === '' ? '' : ` "${value}"`;
  return `${field}${shown} ${message}`;
}

function records(text: string): Parsed[] {
  try {
    return parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      info: true,
      max_record_size: LINE_LENGTH_MAX,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
    }) as unknown as Parsed[];
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const line = (cause as unknown as { lines?: number }).lines ?? 1;
    throw new OperatorError('refused', `line ${line}: ${CSV_PROBLEMS[cause.code] ?? 'is not CSV'}`, cause);
  }
}

const CSV_PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote (") is not closed before the end of the file',
  CSV_MAX_RECORD_SIZE: `has more than ${LINE_LENGTH_MAX} characters: is a quote (") not closed?`,
  CSV_INVALID_CLOSING_QUOTE: 'a quoted field must end before the next comma: write "" for a quote in it',
  INVALID_OPENING_QUOTE: 'a quote (") may only be at the beginning of a field',
};

/** Spreadsheets of some countries separate by semicolons. */
function delimiterOf(text: string): string {
  const [titles = ''] = text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return [',', ';', '\t'].find((each) => titles.includes(each)) ?? ',';
}

const isComment = (record: readonly string[]): boolean => record[0]?.startsWith('#') === true;

/** The field of each column; undefined for one that is unknown, or that occurs twice. */
function fieldsOf(
  { record, info: { lines: line } }: Parsed,
  problems: Problem[],
): Array<CardField | undefined> {
  const titles = record.map((title) =>
    title
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, '_'),
  );
  const fields = titles.map((title, index) => {
    if (isField(title) && titles.indexOf(title) === index) return title;
    problems.push({
      line,
      text: isField(title) ? `the column "${title}" occurs twice` : unknownTitle(title),
    });
    return undefined;
  });
  if (!titles.includes('iccid')) problems.push({ line, text: 'there is no column "iccid"' });
  return fields;
}

const isField = (title: string): title is CardField => Object.hasOwn(CARD_FIELDS, title);

function unknownTitle(title: string): string {
  const meant = closest(title, CARD_FIELD_NAMES);
  return `unknown column "${title}"; ${meant === undefined ? `columns are ${CARD_FIELD_NAMES.join(', ')}` : `did you mean ${meant}?`}`;
}
