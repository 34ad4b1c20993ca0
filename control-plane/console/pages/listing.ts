// A listing as a page: its rows, the filters, and the next page.
import { type Html, html } from '#shared/html.ts';
import type { Cell, Column, Listing } from '#shared/operator/listing.ts';
import { pathOf } from '../actions/paths.ts';
import { badge, plain, shownAt, table } from './shown.ts';

type FilterValues = Readonly<Record<string, string | undefined>>;

export interface ListPage<Row> {
  listing: Listing<Row>;
  path: string;
  rows: readonly Row[];
  next: string | number | null;
  /** The filters in use, by name. */
  filters?: FilterValues;
  /** The filter that the page offers. */
  choice?: { name: string; values: readonly string[] };
  /** Shown above the list. */
  onTop?: Html;
  nowMs: number;
}

export function listPage<Row>(page: ListPage<Row>): Html {
  const { listing, path, rows, next, filters = {}, choice, onTop, nowMs } = page;
  const { title, empty, columns } = listing;
  const links = choice && choiceLinks(path, choice.name, choice.values, filters[choice.name]);
  return html`<div class="heading"><h1>${title}</h1>${links ?? ''}</div>${onTop ?? ''}${
    rows.length === 0 ? nothing(empty) : listTable(title, columns, rows, nowMs)
  }${nextPage(path, filters, next)}`;
}

/** Numbers and wallets of subscribers are masked. */
export const listTable = <Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  nowMs: number,
): Html =>
  table(
    caption,
    columns.map(({ title }) => title),
    rows.map((row) => {
      const [first = html``, ...others] = columns.map(({ cell }) =>
        cellHtml(cell(row, { isFull: false, nowMs })),
      );
      return html`<tr><th scope="row">${first}</th>${others.map((cell) => html`<td>${cell}</td>`)}</tr>`;
    }),
  );

function cellHtml(cell: Cell): Html {
  if (cell === null) return html`–`;
  if (typeof cell === 'string') return html`${cell}`;
  if ('time' in cell) return shownAt(cell.time);
  return 'status' in cell ? badge(cell.status) : html`<a href="${pathOf(cell.link)}">${cell.text}</a>`;
}

/** Links that narrow a list; `chosen` is undefined for all. */
const choiceLinks = (
  path: string,
  name: string,
  values: readonly string[],
  chosen: string | undefined,
): Html =>
  html`<nav class="ranges" aria-label="Filter"><a href="${path}"${chosen === undefined ? html` aria-current="true"` : ''}>all</a>${values.map(
    (value) =>
      html`<a href="${path}?${name}=${value}"${value === chosen ? html` aria-current="true"` : ''}>${plain(value)}</a>`,
  )}</nav>`;

/** Empty on the last page. */
export const nextPage = (path: string, filters: FilterValues, next: string | number | null): Html => {
  if (next === null) return html``;
  const known = Object.entries(filters).filter((field): field is [string, string] => field[1] !== undefined);
  const query = new URLSearchParams([...known, ['after', String(next)]]).toString();
  return html`<p class="actions"><a class="button" rel="next" href="${path}?${query}">Next page</a></p>`;
};

export const nothing = (text: string): Html => html`<div class="nothing"><p>${text}</p></div>`;
