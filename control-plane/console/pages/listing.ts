// A listing as a page: its rows, the filters, the order, and the next page.
import { type Html, html } from '#shared/html.ts';
import type { Cell, Column, Listing } from '#shared/operator/listing.ts';
import { actionPathOf } from '../actions/paths.ts';
import { badge, type ColumnHead, plain, shownAt, table, tableCells, withTimes } from './shown.ts';

export type FilterValues = Readonly<Record<string, string | undefined>>;

/** A filter of a list: one of `values`, a day, or any text. */
export interface FilterField {
  label: string;
  values?: readonly string[];
  /** The values as rows show them; the others are shown as they are. */
  words?: Readonly<Record<string, { readonly words: string }>>;
  isDay?: true;
  /** Shown in the empty field. */
  example?: string;
  /** The values are links on top of the list. */
  isOnTop?: true;
  /** Without a choice, the first of the values holds. */
  hasDefault?: true;
}

export interface ListPage<Row> {
  listing: Listing<Row>;
  path: string;
  rows: readonly Row[];
  next: string | number | null;
  /** The filters in use, by name. */
  filters?: FilterValues;
  /** The filters that the page offers, by name. */
  fields?: Readonly<Record<string, FilterField>>;
  /** The order in use; undefined for lists that cannot be sorted. */
  order?: FilterValues;
  /** Shown above the list. */
  onTop?: Html;
  nowMs: number;
}

export function listPage<Row>(page: ListPage<Row>): Html {
  const { listing, fields = {}, onTop } = page;
  const links = Object.entries(fields).flatMap(([name, { hasDefault, isOnTop, values }]) =>
    isOnTop && values
      ? [choiceLinks(page, name, hasDefault ? values : [undefined, ...values], hasDefault && values[0])]
      : [],
  );
  return html`<div class="heading"><h1>${listing.title}</h1>${links}</div>${onTop ?? ''}${listPart(page)}`;
}

/** Without the title. */
function listPart<Row>(page: ListPage<Row>): Html {
  const { listing, path, rows, next, filters = {}, order, nowMs } = page;
  const heads = listing.columns.map((column) =>
    order === undefined ? column : sortable(page, column, order),
  );
  return html`${filterForm(page)}${
    rows.length === 0
      ? nothing(isFiltered(filters) ? 'Nothing matches these filters.' : listing.empty)
      : listTable(listing.title, listing.columns, rows, nowMs, heads)
  }${nextPage(path, { ...filters, ...order }, next)}`;
}

const isFiltered = (filters: FilterValues): boolean =>
  Object.values(filters).some((value) => value !== undefined);

/** Numbers and wallets of subscribers are masked. */
export const listTable = <Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  nowMs: number,
  heads: readonly ColumnHead[] = columns,
): Html => {
  const titles = columns.map(({ title }) => title);
  return table(
    caption,
    heads.map(({ title, link, sorted }) => ({ title, ...(link === undefined ? {} : { link }), sorted })),
    rows.map((row) => {
      const cells = columns.map(({ cell }) => cellHtml(cell(row, { isFull: false, nowMs })));
      return html`<tr>${tableCells(titles, cells)}</tr>`;
    }),
  );
};

/** Null for no value. */
export function cellHtml(cell: Cell): Html | null {
  if (cell === null || cell === '') return null;
  if (typeof cell === 'string')
    return isOfOnePiece(cell) ? html`<span class="whole">${cell}</span>` : withTimes(cell);
  if ('time' in cell) return cell.time === null ? null : shownAt(cell.time);
  if ('words' in cell) return withTimes(cell.words);
  return 'status' in cell ? badge(cell.status) : html`<a href="${actionPathOf(cell.link)}">${cell.text}</a>`;
}

/** One word, such as a wallet, or a number and its unit. Longer words may break: a table would be too wide. */
const isOfOnePiece = (text: string): boolean => /^(?:\S{1,24}|[\d.]+ \S{1,5})$/.test(text);

/** A second click turns the order round. */
function sortable<Row>(
  { path, filters = {} }: ListPage<Row>,
  { title, sort }: Column<Row>,
  order: FilterValues,
): ColumnHead {
  if (sort === undefined) return { title };
  const isSorted = order['sort'] === sort;
  const isDescending = isSorted && order['order'] === 'desc';
  const next = { ...filters, sort, order: isSorted && !isDescending ? 'desc' : undefined };
  const sorted = isSorted ? (isDescending ? 'descending' : 'ascending') : undefined;
  return { title, link: withQuery(path, next), sorted };
}

/** Links that narrow a list by one filter, and keep the others. `fallback`: the value without a choice. */
function choiceLinks<Row>(
  { path, fields = {}, filters = {}, order }: ListPage<Row>,
  name: string,
  values: readonly (string | undefined)[],
  fallback: string | undefined,
): Html {
  const chosen = filters[name] ?? fallback;
  const kept = Object.fromEntries(Object.entries(filters).filter(([each]) => Object.hasOwn(fields, each)));
  return html`<nav class="ranges" aria-label="Filter">${values.map(
    (value) =>
      html`<a href="${withQuery(path, { ...kept, ...order, [name]: value })}"${
        value === chosen ? html` aria-current="true"` : ''
      }>${value === undefined ? 'all' : (fields[name]?.words?.[value]?.words ?? plain(value))}</a>`,
  )}</nav>`;
}

function filterForm<Row>({ path, fields = {}, filters = {}, order = {} }: ListPage<Row>): Html {
  const asked = Object.entries(fields).filter(([, { isOnTop }]) => !isOnTop);
  if (asked.length === 0) return html``;
  const kept = { ...filters, ...order };
  const hidden = Object.entries(kept).filter(
    ([name, value]) => value !== undefined && !asked.some(([each]) => each === name),
  );
  return html`<form class="filters" method="get" action="${path}">${hidden.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value ?? ''}">`,
  )}${asked.map(
    ([name, field]) =>
      html`<label><span>${field.label}</span>${fieldInput(name, field, filters[name] ?? '')}</label>`,
  )}<span class="apply"><button>Filter</button>${
    isFiltered(filters) ? html`<a class="button" href="${path}">Clear</a>` : ''
  }<a class="button" href="${withQuery(`${path}.csv`, kept)}" download>CSV</a></span></form>`;
}

function fieldInput(name: string, { example, isDay, values }: FilterField, value: string): Html {
  if (values !== undefined)
    return html`<select name="${name}"><option value="">any</option>${values.map(
      (each) => html`<option value="${each}"${each === value ? html` selected` : ''}>${plain(each)}</option>`,
    )}</select>`;
  const hint = example === undefined ? '' : html` placeholder="${example}"`;
  return html`<input name="${name}" type="${isDay ? 'date' : 'text'}"${hint} value="${value}" maxlength="100" autocomplete="off">`;
}

/** The path with the values that there are. */
export function withQuery(path: string, values: FilterValues): string {
  const known = Object.entries(values).filter((field): field is [string, string] => field[1] !== undefined);
  return known.length === 0 ? path : `${path}?${new URLSearchParams(known).toString()}`;
}

/** Empty on the last page. */
const nextPage = (path: string, filters: FilterValues, next: string | number | null): Html =>
  next === null
    ? html``
    : html`<p class="actions"><a class="button" rel="next" href="${withQuery(path, { ...filters, after: String(next) })}">Next page</a></p>`;

export const nothing = (text: string): Html => html`<div class="nothing"><p>${text}</p></div>`;
