// Webhooks of subscriptions, as their holders see and change them.
import { type Selectable, sql } from 'kysely';
import type { WebhookEvent } from '#shared/api/webhooks.ts';
import { webhookKeyOf } from '../../domain/webhook-signature.ts';
import type { Database } from '../database/database.ts';
import type { WebhooksTable } from '../database/webhook-tables.ts';

const COLUMNS = [
  'id',
  'url',
  'events',
  'claim',
  'description',
  'enabled',
  'disabled_reason',
  'created_at',
  'failing_since',
  'last_error',
] as const;

/** Without the secrets. `waiting`: deliveries, counted up to `WAITING_MAX`. */
export type WebhookRow = Pick<Selectable<WebhooksTable>, (typeof COLUMNS)[number]> & { waiting: number };

/** Deliveries of a webhook that may wait. Housekeeping ends the oldest beyond this. */
export const WAITING_MAX = 10_000;

interface WebhookInsert {
  id: string;
  subscriptionId: string;
  url: string;
  events: WebhookEvent[];
  claim: boolean;
  description: string;
  secret: string;
  now: Date;
}

/** Adds a webhook. False if the subscription has `max` already; parallel requests cannot exceed it together. */
export function insertWebhook(db: Database, webhook: WebhookInsert, max: number): Promise<boolean> {
  const { now, subscriptionId, ...values } = webhook;
  return db.transaction().execute(async (trx) => {
    await sql`select from subscriptions where id = ${subscriptionId} for no key update`.execute(trx);
    const { count } = await trx
      .selectFrom('webhooks')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('subscription_id', '=', subscriptionId)
      .executeTakeFirstOrThrow();
    if (count >= max) return false;
    await trx
      .insertInto('webhooks')
      .values({ ...values, subscription_id: subscriptionId, created_at: now })
      .execute();
    return true;
  });
}

/** In the order of their creation. */
export const listWebhooks = (db: Database, subscriptionId: string): Promise<WebhookRow[]> =>
  selectWebhooks(db, subscriptionId).orderBy('position').execute();

export const findWebhook = (
  db: Database,
  subscriptionId: string,
  id: string,
): Promise<WebhookRow | undefined> =>
  selectWebhooks(db, subscriptionId).where('id', '=', id).executeTakeFirst();

const selectWebhooks = (db: Database, subscriptionId: string) =>
  db
    .selectFrom('webhooks')
    .select(COLUMNS)
    .select(
      sql<number>`(select count(*)::int from (select from webhook_deliveries
        where webhook_id = webhooks.id and state = 'waiting' limit ${WAITING_MAX}) as waiting)`.as('waiting'),
    )
    .where('subscription_id', '=', subscriptionId);

interface WebhookUpdate {
  url?: string | undefined;
  events?: WebhookEvent[] | undefined;
  claim?: boolean | undefined;
  description?: string | undefined;
  enabled?: boolean | undefined;
}

/** Changes what is given. A new URL, or enabling, also forgets the failures, and those of open requests. False if the subscription has no such webhook. */
export async function changeWebhook(
  db: Database,
  { subscriptionId, id }: { subscriptionId: string; id: string },
  change: WebhookUpdate,
): Promise<boolean> {
  const isFresh = change.url !== undefined || change.enabled === true;
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const { numUpdatedRows } = await db
    .updateTable('webhooks')
    .set((eb) => ({
      // Also without a change, so that the statement is valid.
      id,
      ...given,
      ...(change.enabled === undefined ? {} : { disabled_reason: null }),
      ...(isFresh
        ? {
            version: eb('version', '+', 1),
            failures: 0,
            failing_since: null,
            last_error: null,
            paused_until: null,
          }
        : {}),
    }))
    .where('id', '=', id)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** With all its deliveries. False if the subscription has no such webhook. */
export async function deleteWebhook(db: Database, subscriptionId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('webhooks')
    .where('id', '=', id)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Replaces the secret; the old one signs too until `previousUntil`. */
export async function rotateSecret(
  db: Database,
  { subscriptionId, id }: { subscriptionId: string; id: string },
  { secret, previousUntil }: { secret: string; previousUntil: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhooks')
    .set({ previous_secret: sql<string>`secret`, previous_until: previousUntil, secret })
    .where('id', '=', id)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The receiver of a request, and the keys that sign it. */
export interface WebhookTarget {
  url: string;
  /** One, or two for a day after a rotation. */
  keys: Buffer[];
}

export async function findTarget(
  db: Database,
  subscriptionId: string,
  id: string,
  now: Date,
): Promise<WebhookTarget | undefined> {
  const row = await db
    .selectFrom('webhooks')
    .select(['url', 'secret', 'previous_secret', 'previous_until'])
    .where('id', '=', id)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  return row && targetOf(row, now);
}

export function targetOf(
  row: Pick<Selectable<WebhooksTable>, 'url' | 'secret' | 'previous_secret' | 'previous_until'>,
  now: Date,
): WebhookTarget {
  const { previous_secret: previous, previous_until: until } = row;
  const isValid = previous !== null && until !== null && until > now;
  return { url: row.url, keys: (isValid ? [row.secret, previous] : [row.secret]).map(webhookKeyOf) };
}
