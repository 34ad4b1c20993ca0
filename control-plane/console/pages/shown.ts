// Times, numbers and states as the pages write them.

import { type Html, html } from '#shared/html.ts';
import type { Status } from '#shared/operator/slot-health.ts';
import { slotPath } from '../actions/paths.ts';
import { sign } from './signs.ts';

/** To the second, UTC; the script writes it in the reader's time. */
export function shownAt(at: Date | string | null): Html {
  if (at === null) return html`–`;
  const text = (typeof at === 'string' ? new Date(at) : at).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')}Z</time>`;
}

/** A state: sign and words in its colour. */
export const badge = ({ health, sign: name, words }: Status): Html =>
  html`<span class="badge ${health}">${sign(name)}${words}</span>`;

/** Words of the service, such as `out_of_service`, as people write them. */
export const plain = (word: string): string => word.replaceAll('_', ' ');

/** A table that may be wider than the screen, with a name for who hears it. */
export const table = (caption: string, columns: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="scroll" role="region" aria-label="${caption}, a table" tabindex="0"><table><caption class="hidden">${caption}</caption><thead><tr>${columns.map(
    (column) => html`<th scope="col">${column}</th>`,
  )}</tr></thead><tbody>${rows}</tbody></table></div>`;

/** Facts as a list of terms. */
export const facts = (pairs: ReadonlyArray<readonly [string, Html | string | number | null]>): Html =>
  html`<dl class="facts">${pairs.map(([term, value]) =>
    value === null || value === '' ? html`` : html`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>`;

/** A slot by its node and its name. */
export const slotLink = (place: { node: string; slot: string }): Html =>
  html`<a href="${slotPath(place)}">${place.node} ${place.slot}</a>`;
