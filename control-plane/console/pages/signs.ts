// The drawings of the console: signs of states, bars of a signal, the mark of the service. One sheet on each page, used by name.
import { Html, html } from '#shared/html.ts';
import type { Sign } from '#shared/operator/slot-health.ts';

const STROKES: Readonly<Record<Sign, string>> = {
  check: 'M3.5 8.5 6.5 11.5 12.5 4.5',
  phone:
    'M4 2.5c-1.6 1-1.2 4.4 1.6 7.4s6.2 3.6 7.2 2l-2.4-2.2-1.6.9C7.600 9.800 6.200 8.400 5.600 7.100l.9-1.600Z',
  wait: 'M4.500 2.500h7L8 8l3.500 5.500h-7L8 8Z',
  search: 'M2 6a8.500 8.500 0 0 1 12 0M4.300 8.800a5.200 5.200 0 0 1 7.400 0M8 12h.01',
  cross: 'M4 4l8 8M12 4l-8 8',
  lock: 'M4 7.500h8v6H4ZM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500',
  empty: 'M3.500 3.500h9v9h-9Z',
  pause: 'M5.500 3.500v9M10.500 3.500v9',
  away: 'M3 8h3M10 8h3M7 5l-1 6M10 5l-1 6',
  barred: 'M8 2.500a5.500 5.500 0 1 0 0 11a5.500 5.500 0 0 0 0-11ZM4.200 4.200l7.600 7.600',
};

/** At the beginning of each page; drawings that come later refer to it. */
export const SIGN_SHEET: Html = html`<svg class="sheet" width="0" height="0" aria-hidden="true"><defs>${Object.entries(
  STROKES,
).map(
  ([name, path]) => html`<symbol id="sign-${name}" viewBox="0 0 16 16"><path d="${path}"/></symbol>`,
)}</defs></svg>`;

export const sign = (name: Sign): Html =>
  html`<svg class="sign" viewBox="0 0 16 16" aria-hidden="true"><use href="#sign-${name}"/></svg>`;

const BARS = 4;

/** Bars of a signal, `count` of them full. */
export const signalBars = (count: number): Html =>
  html`<svg class="bars" viewBox="0 0 19 14" aria-hidden="true">${Array.from({ length: BARS }, (_, index) => {
    const height = 5 + index * 3;
    const full = index < count ? 'full' : 'hollow';
    return html`<rect class="${full}" x="${index * 5}" y="${14 - height}" width="4" height="${height}" rx="1"/>`;
  })}</svg>`;

/** Four bars in a card: signal, and a SIM. */
export const MARK = new Html(
  '<svg class="mark" viewBox="0 0 22 22" aria-hidden="true"><path fill="currentColor" d="M4 1h10l5 5v13a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2Zm1.6 12v4h2v-4h-2Zm3.1-2v6h2v-6h-2Zm3.1-2v8h2V9h-2Zm3.1-2v10h2V7h-2Z"/></svg>',
);
