// A list as a CSV file of any length: read page by page, as fast as the browser takes it.
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { csvOf, csvRows } from '#shared/operator/csv.ts';
import type { Column, View } from '#shared/operator/listing.ts';

/** Rows in memory at a time. */
const PAGE_ROWS = 1_000;

/** A longer list does not fit into a spreadsheet. */
const ROWS_MAX = 1_000_000;

/** Without a byte to the browser. */
const STALLED_MS = 60_000;

/** Ends a download that its browser does not read any more: it keeps a page of rows in memory, and a connection. */
export function endIfStalled(response: ServerResponse, stalledMs = STALLED_MS): void {
  response.setTimeout(stalledMs, () => response.destroy());
}

interface CsvPage<Row> {
  rows: readonly Row[];
  next: string | null;
}

type ReadPage<Row> = (page: { after: string | undefined; limit: number }) => Promise<CsvPage<Row>>;

/**
 * Reads the first page at once: the request can still be refused. When a later page cannot be read, or there are more than `ROWS_MAX` rows,
 * the stream ends with an error, and the browser shows a download that failed.
 */
export async function csvStream<Row>(
  columns: readonly Column<Row>[],
  read: ReadPage<Row>,
  view: View,
): Promise<Readable> {
  const first = await read({ after: undefined, limit: PAGE_ROWS });
  return Readable.from(textOf(columns, { first, read, view }), { objectMode: false, highWaterMark: 1 });
}

async function* textOf<Row>(
  columns: readonly Column<Row>[],
  { first, read, view }: { first: CsvPage<Row>; read: ReadPage<Row>; view: View },
): AsyncGenerator<Buffer> {
  yield Buffer.from(csvOf(columns, first.rows, view));
  let count = first.rows.length;
  for (let after = first.next; after !== null; ) {
    if (count >= ROWS_MAX) throw new Error(`the list has more than ${ROWS_MAX} rows: narrow it with filters`);
    const { rows, next } = await read({ after, limit: PAGE_ROWS });
    count += rows.length;
    yield Buffer.from(csvRows(columns, rows, view));
    after = next;
  }
}
