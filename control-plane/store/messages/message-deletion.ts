// Messages that are deleted: by their holder, or because their time is over. Facts that come again do not bring them back:
// how far a journal is committed is known without them.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** One statement does no more, so that none holds rows for long. */
const BATCH_ROWS = 10_000;
const BATCHES_MAX = 10;

/** Rows that others had locked, deleted one by one: whoever waits for a row must hold none. */
const LOCKED_ROWS_MAX = 100;

/** How long every reading of the clock must say that a message is old. */
const CONFIRMED_MS = 60 * 60 * 1000;

/** False when the subscription has no such message. One that is being claimed is deleted after its claim. */
export async function deleteMessage(
  db: Database,
  { subscriptionId, id }: { subscriptionId: string; id: number },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('messages')
    .where('id', '=', id)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface Deletion {
  subscriptionId: string;
  direction: 'sent' | 'received' | 'both';
  /** Bounds on `created_at`, both inclusive. */
  since?: Date | undefined;
  until?: Date | undefined;
}

/**
 * Deletes the messages that were there when it began, and what could not be read of them. `hasMore` when there are more than
 * one request deletes.
 */
export async function deleteMessages(
  db: Database,
  deletion: Deletion,
): Promise<{ deleted: number; hasMore: boolean }> {
  const { subscriptionId, direction } = deletion;
  const { rows } = await sql<{ id: number | null }>`select max(id) as id from messages`.execute(db);
  const chosen = (limit: number) => sql<{ id: number }>`
    select id from messages
    where subscription_id = ${subscriptionId} and id <= ${rows[0]?.id ?? 0} and ${isWithin('created_at', deletion)}
      and (${direction}::text = 'both' or direction = ${direction}::text)
    order by id limit ${limit}`;
  let deleted = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const count = await deleteChosen(db, sql`${chosen(BATCH_ROWS)} for update skip locked`);
    deleted += count;
    if (count < BATCH_ROWS) break;
  }
  const left = await chosen(LOCKED_ROWS_MAX + 1).execute(db);
  for (const { id } of left.rows.slice(0, LOCKED_ROWS_MAX))
    if (await deleteMessage(db, { subscriptionId, id })) deleted += 1;
  if (direction !== 'sent') await deleteUnreadable(db, deletion);
  return { deleted, hasMore: left.rows.length > LOCKED_ROWS_MAX };
}

/** Nobody is shown them; all the same they came to this holder. */
async function deleteUnreadable(db: Database, deletion: Deletion): Promise<void> {
  await sql`delete from unreadable_messages using numbers, subscriptions
    where numbers.iccid = unreadable_messages.iccid and subscriptions.number = numbers.number
      and subscriptions.id = ${deletion.subscriptionId}
      and ${isWithin('unreadable_messages.received_at', deletion)}`.execute(db);
}

const isWithin = (column: string, { since, until }: Pick<Deletion, 'since' | 'until'>) => sql`
  ${sql.ref(column)} >= coalesce(${since ?? null}::timestamptz, '-infinity')
  and ${sql.ref(column)} <= coalesce(${until ?? null}::timestamptz, 'infinity')`;

async function deleteChosen(db: Database, chosen: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from messages where id in (${chosen})`.execute(db);
  return Number(numAffectedRows);
}

/**
 * Deletes messages that are older than `keepMs`, oldest first, a batch a round, and returns how many. What one reading of the
 * clock says is not believed: a message is old once it was so at all readings of an hour.
 */
export async function purgeOldMessages(
  db: Database,
  { keepMs, now }: { keepMs: number; now: Date },
): Promise<number> {
  const confirmedAt = await confirmedTime(db, now);
  if (confirmedAt === null) return 0;
  const oldest = new Date(confirmedAt.getTime() - keepMs);
  await sql`delete from unreadable_messages where received_at < ${oldest}`.execute(db);
  // Subscription by subscription, for which there is an index.
  return deleteChosen(
    db,
    sql`select old.id from subscriptions cross join lateral (
        select id from messages where subscription_id = subscriptions.id and created_at < ${oldest}
        order by created_at, id limit ${BATCH_ROWS} for update skip locked
      ) as old limit ${BATCH_ROWS}`,
  );
}

/**
 * A reading of the clock that no later one has contradicted for an hour; null while there is none. A reading that is before
 * the last one begins anew, on whichever instance.
 */
async function confirmedTime(db: Database, now: Date): Promise<Date | null> {
  const read = sql`${now}::timestamptz`;
  const isOver = sql`read_at <= ${new Date(now.getTime() - CONFIRMED_MS)}::timestamptz`;
  const { rows } = await sql<{ confirmed_at: Date | null }>`
    update message_retention set
      read_at = case when read_at is null or read_at > ${read} or ${isOver} then ${read} else read_at end,
      confirmed_at = case when read_at > ${read} then null when ${isOver} then read_at else confirmed_at end
    returning confirmed_at`.execute(db);
  return rows[0]?.confirmed_at ?? null;
}
