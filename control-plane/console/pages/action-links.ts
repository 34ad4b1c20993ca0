// Links to what can be done here; each leads to a page that asks once more.
import { type Html, html } from '#shared/html.ts';
import { ACTION_WORDS, type ActionName } from '../actions/action-words.ts';

export type ActionLink = readonly [name: ActionName, fields: Readonly<Record<string, string>>];

const actionPath = (name: ActionName, fields: Readonly<Record<string, string>>): string =>
  `/actions/${name}?${new URLSearchParams(fields).toString()}`;

export const actionLinks = (links: readonly ActionLink[]): Html =>
  links.length === 0
    ? html``
    : html`<p class="actions">${links.map(
        ([name, fields]) =>
          html`<a class="button${ACTION_WORDS[name].isGrave ? ' grave' : ''}" href="${actionPath(name, fields)}" data-dialog>${ACTION_WORDS[name].verb}</a>`,
      )}</p>`;
