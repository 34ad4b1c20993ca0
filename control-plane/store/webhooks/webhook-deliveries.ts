// The list of deliveries, their replay, and their deletion after a week.
import { type Selectable, sql } from 'kysely';
import type { DeliveryState } from '#shared/api/webhooks.ts';
import type { Database } from '../database/database.ts';
import { inBatches } from '../database/lists.ts';
import type { Tables } from '../database/tables.ts';
import { WAITED_FOR } from './webhook-queue.ts';
import { WAITING_MAX } from './webhooks.ts';

const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

export type DeliveryRow = Pick<
  Selectable<Tables['webhook_deliveries']>,
  'id' | 'event_id' | 'type' | 'state' | 'attempts' | 'status' | 'error' | 'occurred_at' | 'last_at'
> & { next_at: Date | null };

/** Newest first; `before`: the id of the last row of the page before. */
export async function listDeliveries(
  db: Database,
  query: { webhookId: string; state: DeliveryState | undefined; before: number | undefined; limit: number },
): Promise<DeliveryRow[]> {
  let select = db
    .selectFrom('webhook_deliveries')
    .select(['id', 'event_id', 'type', 'state', 'attempts', 'status', 'error', 'occurred_at', 'last_at'])
    .select(
      sql<Date | null>`case when state = 'waiting' then nullif(next_at, '-infinity'::timestamptz) end`.as(
        'next_at',
      ),
    )
    .where('webhook_id', '=', query.webhookId)
    .orderBy('id', 'desc')
    .limit(query.limit);
  if (query.state !== undefined) select = select.where('state', '=', query.state);
  if (query.before !== undefined) select = select.where('id', '<', query.before);
  return select.execute();
}

/** False if the webhook has no such delivery. */
export async function replayOne(db: Database, webhookId: string, id: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set({ state: 'waiting', attempts: 0, next_at: sql<Date>`'-infinity'::timestamptz` })
    .where('id', '=', id)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Queues the deliveries since a time again, and received texts that the webhook did not get: at most `max`, the newest of them. They are
 * sent in the order of their events, after the deliveries that wait already. Returns how many.
 */
export async function replaySince(
  db: Database,
  { webhookId, since, now, max }: { webhookId: string; since: Date; now: Date; max: number },
): Promise<number> {
  const from = new Date(Math.max(since.getTime(), now.getTime() - KEPT_MS));
  return db.transaction().execute(async (trx) => {
    const added = await sql<{ id: number }>`
      insert into webhook_deliveries (webhook_id, event_id, type, message_id, occurred_at)
      select webhook.id, 'sms_' || text.id || '_received', 'sms.received', text.id, text.created_at
      from (select id, subscription_id from webhooks where id = ${webhookId} and 'sms.received' = any (events) for key share) as webhook
      cross join lateral (
        select id, created_at from messages where subscription_id = webhook.subscription_id and direction = 'received'
          and created_at >= ${from}::timestamptz
        order by created_at desc, id desc limit ${max}
      ) as text
      order by text.id
      on conflict (webhook_id, event_id) do nothing
      returning id`.execute(trx);
    const { rows } = await sql<{ id: number }>`
      with replayed as (
        select id, nextval(pg_get_serial_sequence('webhook_deliveries', 'place')) as place from (
          select id from (
            select id, occurred_at from webhook_deliveries where webhook_id = ${webhookId} and occurred_at >= ${from}::timestamptz
            order by occurred_at desc, id desc limit ${max}
          ) as newest order by occurred_at, id
        ) as ordered
      )
      update webhook_deliveries set place = replayed.place, state = 'waiting', attempts = 0, next_at = '-infinity'
      from replayed where webhook_deliveries.id = replayed.id
      returning webhook_deliveries.id`.execute(trx);
    // Texts that were added beyond the newest.
    const replayed = new Set(rows.map(({ id }) => id));
    const beyond = added.rows.map(({ id }) => id).filter((id) => !replayed.has(id));
    if (beyond.length > 0)
      await sql`delete from webhook_deliveries where webhook_id = ${webhookId} and id = any(${beyond}::bigint[])`.execute(
        trx,
      );
    return replayed.size;
  });
}

/** Housekeeping: deletes what is older than a week, and ends the oldest that wait beyond `WAITING_MAX`. */
export async function pruneDeliveries(db: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await inBatches(async (limit) => {
    // By the place of the rows: their key is not the order in which they age.
    const { numAffectedRows = 0n } = await sql`
      delete from webhook_deliveries where ctid = any(array(
        select ctid from webhook_deliveries where occurred_at < ${before}::timestamptz
        order by occurred_at limit ${limit} for update skip locked))`.execute(db);
    return Number(numAffectedRows);
  });
  const { rows } = await sql<{ webhook_id: string; place: number }>`
    select waited.id as webhook_id, last.place from (${WAITED_FOR}) as waited
    cross join lateral (
      select place from webhook_deliveries where webhook_id = waited.id and state = 'waiting'
      order by webhook_id desc, place desc offset ${WAITING_MAX} limit 1
    ) as last`.execute(db);
  for (const { webhook_id: webhookId, place } of rows)
    await db
      .updateTable('webhook_deliveries')
      .set({ state: 'failed', error: 'too many deliveries waited' })
      .where('webhook_id', '=', webhookId)
      .where('state', '=', 'waiting')
      .where('place', '<=', place)
      .execute();
}
