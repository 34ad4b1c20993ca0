// Deletes messages, at the holder's request or when their retention ends. Repeated facts do not restore them: the committed position of the
// journal is stored separately.
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { BATCH_ROWS, deleteChosen, inBatches } from '../database/lists.ts';

const MESSAGES = { table: 'messages', key: 'id' };

/** Rows that others had locked are deleted one by one: a transaction that waits for a row must hold no other. */
const LOCKED_ROWS_MAX = 100;

/** For this long, every reading of the clock must show that a message is old. */
const CONFIRMED_MS = 60 * 60 * 1000;

/** False when the subscription has no such message. A message that is being claimed is deleted after its claim. */
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

interface Deletion {
  subscriptionId: string;
  direction: 'sent' | 'received' | 'both';
  /** Bounds on `created_at`, both inclusive. */
  since?: Date | undefined;
  until?: Date | undefined;
}

/**
 * Deletes the messages, and records of unreadable ones, that existed when the request began. `hasMore` when there are more than one request
 * deletes.
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
    order by created_at, id limit ${limit}`;
  let deleted = await inBatches((limit) =>
    deleteChosen(db, MESSAGES, sql`${chosen(limit)} for update skip locked`),
  );
  const left = await chosen(LOCKED_ROWS_MAX + 1).execute(db);
  for (const { id } of left.rows.slice(0, LOCKED_ROWS_MAX))
    if (await deleteMessage(db, { subscriptionId, id })) deleted += 1;
  if (direction !== 'sent') await deleteUnreadable(db, deletion);
  return { deleted, hasMore: left.rows.length > LOCKED_ROWS_MAX };
}

/** No list shows them, but they belong to this holder. */
async function deleteUnreadable(db: Database, deletion: Deletion): Promise<void> {
  await sql`delete from unreadable_messages using (
      select numbers.iccid, 'infinity'::timestamptz as until from numbers
        join subscriptions on subscriptions.number = numbers.number where subscriptions.id = ${deletion.subscriptionId}
      union all select iccid, until from former_cards where subscription_id = ${deletion.subscriptionId}
    ) as card
    where card.iccid = unreadable_messages.iccid and unreadable_messages.received_at <= card.until
      and ${isWithin('unreadable_messages.received_at', deletion)}`.execute(db);
}

const isWithin = (column: string, { since, until }: Pick<Deletion, 'since' | 'until'>) => sql`
  ${sql.ref(column)} >= coalesce(${since ?? null}::timestamptz, '-infinity')
  and ${sql.ref(column)} <= coalesce(${until ?? null}::timestamptz, 'infinity')`;

/**
 * Deletes messages that are older than `keepMs`, oldest first, one batch per round, and returns how many. A single reading of the clock is
 * not trusted: a message must be old at every reading of an hour.
 */
export async function purgeOldMessages(
  db: Database,
  { keepMs, now }: { keepMs: number; now: Date },
): Promise<number> {
  const confirmedAt = await confirmedTime(db, now);
  if (confirmedAt === null) return 0;
  const oldest = new Date(confirmedAt.getTime() - keepMs);
  await sql`delete from unreadable_messages where received_at < ${oldest}`.execute(db);
  // Rows of one time lie side by side: a batch reads few pages, and leaves room where new rows fit.
  return deleteChosen(
    db,
    MESSAGES,
    sql`select id from messages where created_at < ${oldest} order by created_at limit ${BATCH_ROWS}
      for update skip locked`,
  );
}

/**
 * A reading of the clock that no later reading has contradicted for an hour; null if there is none. A reading that is earlier than the last
 * one, at any instance, starts the hour again.
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
