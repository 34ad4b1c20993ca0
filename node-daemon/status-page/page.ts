// The parts of every page: head, footer, a content security policy that blocks all external content, and the list of events.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { contentSecurityPolicy } from '#shared/content-security-policy.ts';
import { Html, html } from '#shared/html.ts';
import type { NodeStatus } from './node-status.ts';
import type { HostEvent } from './recent-events.ts';
import { duration } from './words.ts';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const STYLE = read('status-page.css');
const SCRIPT = read('status-page.js');
/** Reload interval without JavaScript. */
const RELOAD_SECONDS = 15;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows only the page's own style and script. */
export const CONTENT_SECURITY_POLICY = contentSecurityPolicy({
  styles: hashOf(STYLE),
  scripts: hashOf(SCRIPT),
  connections: "'self'",
  forms: "'none'",
});

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><path fill="#0b6e4f" d="M2 3h18v4H2zM2 9h18v4H2zM2 15h18v4H2z"/></svg>',
)}`;

/** Returns the whole document around `body`. */
export function page({ title, status }: { title: string; status: NodeStatus }, body: Html): string {
  const at = new Date(status.now).toISOString();
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">
<noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}"></noscript>
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<main id="main">${body}</main>
<footer><p id="at" data-live>As of <time datetime="${at}">${at.slice(0, 19).replace('T', ' ')} UTC</time></p>
<p id="away" class="alarms" role="status" hidden>The daemon does not answer. This page is out of date.</p>
<p><a href="/metrics">Metrics</a></p></footer>
<script>${new Html(SCRIPT)}</script>
</body>
</html>
`.text;
}

/** Shows how long ago each event was. The exact time is in the title. */
export function eventList(events: readonly HostEvent[], now: number): Html {
  if (events.length === 0) return html`<p class="quiet">No events yet.</p>`;
  return html`<ol class="events">${events.map(({ at, slot, text }) => {
    const iso = new Date(at).toISOString();
    return html`<li><time datetime="${iso}" title="${iso}">${duration(now - at)} ago</time>
${slot === null ? html`<span>host</span>` : html`<a href="/slots/${slot}">${slot}</a>`} <span>${text}</span></li>`;
  })}</ol>`;
}
