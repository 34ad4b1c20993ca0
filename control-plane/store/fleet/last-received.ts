// When each subscription last received a text: kept apart from the texts, which their holders delete.
import { type RawBuilder, sql } from 'kysely';

/** A text within this time after the recorded one is not recorded: a flood of texts writes one row a minute. */
export const LAST_RECEIVED_STEP = sql`interval '1 minute'`;

/**
 * Records a text for each `subscription_id` of the rows `stored`, part of a statement. Locks only what it changes, in the order of the ids.
 * The recorded time may be up to a minute before the last text.
 */
export const recordLastReceived = (stored: RawBuilder<unknown>, now: Date): RawBuilder<unknown> => sql`
  insert into last_received (subscription_id, at)
  select distinct subscription_id, ${now}::timestamptz from ${stored} where not exists (
    select from last_received where last_received.subscription_id = stored.subscription_id
      and at > ${now}::timestamptz - ${LAST_RECEIVED_STEP})
  order by 1
  on conflict (subscription_id) do update set at = greatest(last_received.at, excluded.at)`;
