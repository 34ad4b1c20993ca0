// The numbers and where they are, and one number with what befell it.

import { type Html, html } from '#shared/html.ts';
import { listedNumber } from '../../domain/masked-number.ts';
import { shownWallet } from '../../domain/masked-wallet.ts';
import { NUMBER_STATES, type NumberState } from '../../domain/number-state.ts';
import type { Page, Told } from '../../operator/desk-answers.ts';
import type { NumberRow } from '../../store/fleet/numbers.ts';
import type { NumberHappening } from '../../store/operations/happenings.ts';
import { numberPath } from '../actions/paths.ts';
import { type ActionLink, actionLinks } from './action-links.ts';
import { numberEvents } from './happenings.ts';
import { choice, further, nothing } from './lists.ts';
import { badge, facts, shownAt, slotLink, table } from './shown.ts';
import type { Look } from './slot-look.ts';

const LOOKS: Readonly<Record<NumberState, Look>> = {
  available: { tone: 'good', sign: 'check', words: 'on sale' },
  unswept: { tone: 'warn', sign: 'wait', words: 'waits for a sweep' },
  offline: { tone: 'warn', sign: 'away', words: 'offline' },
  reserved: { tone: 'busy', sign: 'wait', words: 'reserved' },
  held: { tone: 'busy', sign: 'check', words: 'held' },
  quarantined: { tone: 'warn', sign: 'wait', words: 'quarantined' },
  out_of_service: { tone: 'off', sign: 'pause', words: 'out of service' },
  unadmitted: { tone: 'warn', sign: 'lock', words: 'not admitted' },
  retired: { tone: 'off', sign: 'barred', words: 'retired' },
};

export function numbersPage({ rows, next }: Told<Page<NumberRow>>, state: NumberState | undefined): Html {
  return html`<div class="heading"><h1>Numbers</h1>${choice('/numbers', 'state', NUMBER_STATES, state)}</div>${
    rows.length === 0
      ? nothing('No such number.')
      : table('Numbers', ['Number', 'State', 'Where', 'Held by', 'Until', 'Why'], rows.map(row))
  }${further('/numbers', { state }, next)}`;
}

function row({ expires_at, node, number, reason, slot, state, wallet }: Told<NumberRow>): Html {
  return html`<tr><th scope="row"><a href="${numberPath(number)}">${listedNumber(number, wallet !== null)}</a></th><td>${badge(
    LOOKS[state],
  )}</td><td>${place(node, slot)}</td><td>${wallet === null ? '–' : shownWallet(wallet, false)}</td><td>${shownAt(
    expires_at,
  )}</td><td>${reason ?? ''}</td></tr>`;
}

const place = (node: string | null, slot: string | null): Html =>
  node === null || slot === null ? html`nowhere` : slotLink({ node, slot });

export function foundPage(text: string, found: ReadonlyArray<{ number: string; isHeld: boolean }>): Html {
  return html`<h1>Numbers that end with “${text}”</h1>${
    found.length === 0
      ? nothing('There is none. Give the last digits, or all of them.')
      : html`<ul class="found">${found.map(
          ({ number, isHeld }) =>
            html`<li><a href="${numberPath(number)}">${listedNumber(number, isHeld)}</a></li>`,
        )}</ul>`
  }`;
}

export function numberPage(number: Told<NumberRow>, happenings: readonly NumberHappening[]): Html {
  const { expires_at, iccid, node, quarantined_until, reason, slot, state, wallet } = number;
  return html`<p class="trail"><a href="/numbers">Numbers</a></p><h1>${number.number}</h1>
${facts([
  ['State', badge(LOOKS[state])],
  ['Not sold before', quarantined_until === null ? null : shownAt(quarantined_until)],
  ['Why', reason],
  ['Where', place(node, slot)],
  ['ICCID', iccid],
  ['Held by', wallet === null ? null : shownWallet(wallet, false)],
  ['Until', expires_at === null ? null : shownAt(expires_at)],
])}${actionLinks(actionsOf(number))}
<section aria-labelledby="events-title"><h2 id="events-title">Last events</h2>${numberEvents(happenings)}</section>`;
}

function actionsOf({ number, state }: Told<NumberRow>): ActionLink[] {
  if (state === 'quarantined') return [['release-number', { number }]];
  if (state === 'unadmitted') return [['admit-number', { number }]];
  return state === 'available' ? [['send-test', { from: number }]] : [];
}
