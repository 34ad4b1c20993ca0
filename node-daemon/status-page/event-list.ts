// The list of events, newest first.
import { type Html, html } from '#shared/html.ts';
import type { HostEvent } from './recent-events.ts';
import { duration } from './words.ts';

/** Shows how long ago each event was. The exact time is in the title. */
export function eventList(events: readonly HostEvent[], now: number): Html {
  if (events.length === 0) return html`<p class="quiet">No events yet.</p>`;
  return html`<ol class="events">${events.map(({ at, slot, text }) => {
    const iso = new Date(at).toISOString();
    return html`<li><time datetime="${iso}" title="${iso}">${duration(now - at)} ago</time>
${slot === null ? html`<span>host</span>` : html`<a href="/slots/${slot}">${slot}</a>`} <span>${text}</span></li>`;
  })}</ol>`;
}
