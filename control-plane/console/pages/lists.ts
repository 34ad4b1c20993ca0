// What every list of the console has: what it may be narrowed to, and the way to its next page.
import { type Html, html } from '#shared/html.ts';
import { plain } from './shown.ts';

/** Links that narrow a list; `chosen` is undefined for all. */
export const choice = (
  path: string,
  name: string,
  values: readonly string[],
  chosen: string | undefined,
): Html =>
  html`<nav class="ranges" aria-label="Which"><a href="${path}"${chosen === undefined ? html` aria-current="true"` : ''}>all</a>${values.map(
    (value) =>
      html`<a href="${path}?${name}=${value}"${value === chosen ? html` aria-current="true"` : ''}>${plain(value)}</a>`,
  )}</nav>`;

/** The way on, where there is more. */
export const further = (
  path: string,
  fields: Readonly<Record<string, string | undefined>>,
  next: string | number | null,
): Html => {
  if (next === null) return html``;
  const known = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  const query = new URLSearchParams([...known, ['after', String(next)]]).toString();
  return html`<p class="actions"><a class="button" rel="next" href="${path}?${query}">Next page</a></p>`;
};

export const nothing = (text: string): Html => html`<div class="nothing"><p>${text}</p></div>`;
