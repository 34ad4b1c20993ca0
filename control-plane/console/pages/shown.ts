// Times, numbers and states as the pages write them.
import { type Html, html } from '#shared/html.ts';
import type { Status } from '#shared/operator/slot-health.ts';
import { slotPath } from '../actions/paths.ts';
import type { Fragment } from '../live/live-topic.ts';
import { sign } from './signs.ts';

/** To the second, UTC; the script writes it in the reader's time. */
export function shownAt(at: Date | string | null): Html {
  if (at === null) return html`–`;
  const text = (typeof at === 'string' ? new Date(at) : at).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')}Z</time>`;
}

const ISO_TIME = /(\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)/;

/** A text of the service; the times in it are written as all others. */
export const withTimes = (text: string): Html =>
  html`${text.split(ISO_TIME).map((part, index) => (index % 2 === 1 && isTime(part) ? shownAt(part) : html`${part}`))}`;

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));

/** Characters of a state that a table keeps on one line. */
const BADGE_LINE = 16;

/** A state: sign and words in its colour. */
export const badge = ({ health, sign: name, words }: Status): Html =>
  html`<span class="badge ${health}${words.length > BADGE_LINE ? ' long' : ''}">${sign(name)}${words}</span>`;

/** Words of the service, such as `out_of_service`, as people write them. */
export const plain = (word: string): string => word.replaceAll('_', ' ');

/** The head of a column. `link` sorts the list by it. */
export interface ColumnHead {
  title: string;
  link?: string;
  /** The list is sorted by it. */
  sorted?: 'ascending' | 'descending' | undefined;
}

/** A table that may be wider than the screen, with a caption for screen readers. On a phone its rows are cards. */
export const table = (
  caption: string,
  columns: ReadonlyArray<string | ColumnHead>,
  rows: readonly Html[],
): Html =>
  html`<div class="scroll" role="region" aria-label="${caption}, a table" tabindex="0"><table><caption class="hidden">${caption}</caption><thead><tr>${columns.map(
    (column) => columnHead(typeof column === 'string' ? { title: column } : column),
  )}</tr></thead><tbody>${rows}</tbody></table></div>`;

const columnHead = ({ title, link, sorted }: ColumnHead): Html =>
  html`<th scope="col"${sorted === undefined ? '' : html` aria-sort="${sorted}"`}>${
    link === undefined ? title : html`<a href="${link}">${title}</a>`
  }</th>`;

/** Cells of a row below their heads, which cards show beside them. The first is the head of the row. */
export function tableCells(titles: readonly string[], cells: ReadonlyArray<Html | null>): Html {
  return html`${cells.map((cell, index) => {
    const shown = cell ?? html`–`;
    if (index === 0) return html`<th scope="row">${shown}</th>`;
    const isNone = cell === null ? html` class="none"` : '';
    return html`<td data-title="${titles[index] ?? ''}"${isNone}>${shown}</td>`;
  })}`;
}

/** Facts as a list of terms. */
export const facts = (pairs: ReadonlyArray<readonly [string, Html | string | number | null]>): Html =>
  html`<dl class="facts">${pairs.map(([term, value]) =>
    value === null || value === '' ? html`` : html`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>`;

/** Finds the parts of a page by their ids. */
export const partOf =
  (fragments: readonly Fragment[]) =>
  (id: string): Html =>
    fragments.find((fragment) => fragment.id === id)?.html ?? html``;

/** A slot by its node and its name. */
export const slotLink = (place: { node: string; slot: string }): Html =>
  html`<a href="${slotPath(place)}">${place.node} ${place.slot}</a>`;
