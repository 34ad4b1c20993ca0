// Claims of received messages: a client gets each one once.
import { sql } from 'kysely';
import { PROOF_LIFETIME_MS } from '#shared/link/proof.ts';
import type { Database } from '../database/database.ts';
import { MESSAGE_COLUMNS, type MessageRow } from './messages.ts';

/**
 * Claims up to `limit` undelivered messages, oldest first. It is one statement: parallel claims never get the same row. If a client loses
 * the response, the messages are still in the history.
 */
export async function claimReceived(
  db: Database,
  claim: { subscriptionId: string; limit: number; now: Date },
): Promise<MessageRow[]> {
  const rows = await db
    .with('undelivered', (cte) =>
      cte
        .selectFrom('messages')
        .select('id')
        .where('subscription_id', '=', claim.subscriptionId)
        .where('direction', '=', 'received')
        .where('delivered_at', 'is', null)
        .orderBy('id')
        .limit(claim.limit)
        .forUpdate()
        .skipLocked(),
    )
    .updateTable('messages')
    .from('undelivered')
    .set({ delivered_at: claim.now })
    .whereRef('messages.id', '=', 'undelivered.id')
    .returning(MESSAGE_COLUMNS.map((column) => `messages.${column}` as const))
    .execute();
  // The order of `returning` is not defined.
  return rows.sort((a, b) => a.id - b.id);
}

/**
 * The newest undelivered messages that came since then, newest first. The clock of a node may be slow by less than a proof lasts: then
 * nothing corrects it. Claims nothing.
 */
export async function findUndelivered(
  db: Database,
  query: { subscriptionId: string; since: Date; from: string | undefined; limit: number },
): Promise<MessageRow[]> {
  const { since } = query;
  const sinceBySlowClock = new Date(since.getTime() - PROOF_LIFETIME_MS);
  let select = db
    .selectFrom('messages')
    .select(MESSAGE_COLUMNS)
    .where('subscription_id', '=', query.subscriptionId)
    .where('direction', '=', 'received')
    .where('delivered_at', 'is', null)
    .where(
      sql<boolean>`coalesce(received_at, created_at) >=
        case when created_at >= ${since}::timestamptz then ${sinceBySlowClock}::timestamptz else ${since}::timestamptz end`,
    )
    .orderBy('id', 'desc')
    .limit(query.limit);
  if (query.from !== undefined) select = select.where('from_number', '=', query.from);
  return select.execute();
}

/** Claims one message. False if it was claimed or deleted meanwhile. */
export async function claimOne(
  db: Database,
  { subscriptionId, id, now }: { subscriptionId: string; id: number; now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('messages')
    .set({ delivered_at: now })
    .where('subscription_id', '=', subscriptionId)
    .where('id', '=', id)
    .where('direction', '=', 'received')
    .where('delivered_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Makes messages that were claimed but not delivered claimable again. */
export async function releaseReceived(
  db: Database,
  { subscriptionId, ids }: { subscriptionId: string; ids: readonly number[] },
): Promise<void> {
  await db
    .updateTable('messages')
    .set({ delivered_at: null })
    .where('subscription_id', '=', subscriptionId)
    .where('direction', '=', 'received')
    .where('id', 'in', ids)
    .execute();
}

/** Returns the subscriptions that have messages to claim. */
export async function findFilledInboxes(db: Database, subscriptionIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ subscription_id: string }>`
    select inbox.subscription_id from unnest(${subscriptionIds}::text[]) as inbox (subscription_id)
    where exists (
      select from messages where messages.subscription_id = inbox.subscription_id
        and messages.direction = 'received' and messages.delivered_at is null
    )`.execute(db);
  return rows.map((row) => row.subscription_id);
}
