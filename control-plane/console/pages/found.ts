// The results of a search: numbers, slots and subscriptions.
import { type Html, html } from '#shared/html.ts';
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { NUMBERS } from '../../operator/listings/numbers.ts';
import { SLOTS } from '../../operator/listings/slots.ts';
import { SUBSCRIPTIONS } from '../../operator/listings/subscriptions.ts';
import type { NumberRow } from '../../store/fleet/numbers.ts';
import type { SlotRow } from '../../store/fleet/slot-service.ts';
import type { SubscriptionRow } from '../../store/money/subscription-list.ts';
import { listTable, nothing, withQuery } from './listing.ts';

interface Rows<Row> {
  rows: readonly Row[];
  /** Not null if there are more. */
  next: unknown;
}

interface Found {
  numbers: Rows<Json<NumberRow>>;
  slots: Rows<Json<SlotRow>>;
  subscriptions: Rows<Json<SubscriptionRow>>;
}

export function foundPage(find: string, { numbers, slots, subscriptions }: Found, nowMs: number): Html {
  const part = <Row>(listing: Listing<Row>, path: string, { rows, next }: Rows<Row>): Html =>
    rows.length === 0
      ? html``
      : html`<section><h2>${listing.title}</h2>${listTable(listing.title, listing.columns, rows, nowMs)}${
          next === null
            ? ''
            : html`<p class="actions"><a class="button" href="${withQuery(path, { find })}">Show all</a></p>`
        }</section>`;
  const isNothing = [numbers, slots, subscriptions].every(({ rows }) => rows.length === 0);
  return html`<h1>Found: “${find}”</h1>${
    isNothing
      ? nothing(
          'Nothing contains this. Search for a part of a number, label, ICCID, IMEI, wallet, node or slot.',
        )
      : [
          part(NUMBERS, '/numbers', numbers),
          part(SLOTS, '/slots', slots),
          part(SUBSCRIPTIONS, '/subscriptions', subscriptions),
        ]
  }`;
}
