// The frame of every page of the console: head, navigation, the signed-in operator.
import { type Html, html } from '#shared/html.ts';
import { pathOfAsset } from '../browser/assets.ts';
import { formTokenField } from '../session/forms.ts';
import type { ConsoleSession } from '../session/sessions.ts';
import { withTimes } from './shown.ts';
import { MARK, SIGN_SHEET } from './signs.ts';

const PLACES = [
  ['/', 'Fleet'],
  ['/slots', 'Slots'],
  ['/numbers', 'Numbers'],
  ['/subscriptions', 'Subscriptions'],
  ['/costs', 'Costs'],
  ['/payments', 'Payments'],
  ['/traffic', 'Traffic'],
  ['/probes', 'Probes'],
  ['/alerts', 'Alerts'],
  ['/audit', 'Audit log'],
] as const;

/** Time zone of the page. The script replaces it with the reader's. */
const ZONE = html`<p class="zone">Times in <span id="zone">UTC</span></p>`;

interface Frame {
  title: string;
  serviceName: string;
  /** Session of the operator who is signed in; undefined on the sign-in page. */
  session: ConsoleSession | undefined;
  /** Path of the navigation entry that the page belongs to. */
  place: string;
  /** The topic that the page follows, and the version that it shows. */
  live?: { topic: string; version: string };
  /** The action just done, for an operator who returns from it. */
  done?: Html | string | undefined;
  /** The console does not know who asks: the database does not respond. The page loads again by itself. */
  retrySeconds?: number | undefined;
  /** The page has plots. */
  hasPlots?: boolean;
}

/** The whole document around `body`. */
export function framed(
  { title, serviceName, session, place, live, done, hasPlots, retrySeconds }: Frame,
  body: Html,
): string {
  const plots = hasPlots
    ? html`<link rel="stylesheet" href="${pathOfAsset('uplot.css')}">
<script src="${pathOfAsset('uplot.js')}" defer></script>
<script src="${pathOfAsset('plots.js')}" defer></script>`
    : '';
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${
  retrySeconds === undefined
    ? ''
    : html`<meta http-equiv="refresh" content="${retrySeconds}">
`
}<title>${title} · ${serviceName} console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${pathOfAsset('console.css')}">
${plots}<script src="${pathOfAsset('console.js')}" defer></script>
</head>
<body${live === undefined ? '' : html` data-topic="${live.topic}" data-version="${live.version}"`}>
${SIGN_SHEET}<a class="skip" href="#main">Skip to the content</a>
${session === undefined && retrySeconds === undefined ? '' : header(serviceName, place, session, live !== undefined)}
<main id="main" tabindex="-1">${done === undefined ? '' : html`<p class="done" role="status">${done}</p>`}${session === undefined ? '' : ZONE}${body}</main>
</body>
</html>
`.text;
}

function header(
  serviceName: string,
  place: string,
  session: ConsoleSession | undefined,
  isLive: boolean,
): Html {
  return html`<header class="top">
<a class="brand" href="/">${MARK}<span>${serviceName}</span></a>
<nav aria-label="Console">${PLACES.map(
    ([path, name]) => html`<a href="${path}"${path === place ? html` aria-current="page"` : ''}>${name}</a>`,
  )}</nav>
<form class="find" method="get" action="/find" role="search"><label><span class="hidden">Find a number, label, ICCID, IMEI, wallet or slot</span><input name="find" type="search" minlength="2" maxlength="100" required placeholder="Number, label, ICCID …" autocomplete="off" aria-keyshortcuts="/"></label></form>
${isLive ? html`<span class="link" id="live" role="status" hidden></span>` : ''}
${
  session === undefined
    ? ''
    : html`<form class="out" method="post" action="/sign-out">${formTokenField(session)}<span class="who">${session.operator}</span><button class="quiet">Sign out</button></form>`
}
</header>`;
}

/** A page that says one thing. */
export const message = (title: string, text: string, action: Html): Html =>
  html`<section class="notice"><h1>${title}</h1><p>${withTimes(text)}</p>${action}</section>`;
