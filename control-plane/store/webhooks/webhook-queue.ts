// The queues of deliveries, one for each webhook. One instance at a time has the lease of a queue, and sends its deliveries in order. If it
// dies, another one gets the queue when the lease is over.
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { OutboundStatus } from '#shared/api/answers.ts';
import type { WebhookEvent } from '#shared/api/webhooks.ts';
import type { Database } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import type { CallsTable } from '../database/tables.ts';
import { MESSAGE_COLUMNS, type MessageRow } from '../messages/messages.ts';
import { targetOf, type WebhookTarget } from './webhooks.ts';

const CALL_COLUMNS = [
  'id',
  'number',
  'direction',
  'peer',
  'started_at',
  'answered_at',
  'answered_by',
  'ended_at',
  'reason',
  'cause',
] as const;

export type QueuedCall = Pick<Selectable<CallsTable>, (typeof CALL_COLUMNS)[number]>;

/** A webhook with deliveries that are due. */
interface DueWebhook {
  id: string;
  subscriptionId: string;
  isFailing: boolean;
}

/** Found at once; the next round finds further ones. */
const DUE_MAX = 10_000;

/** The webhooks that have a delivery to send now and whose queue is free, or with this instance. */
export async function findDueWebhooks(
  db: Database,
  { instance, now }: { instance: string; now: Date },
): Promise<DueWebhook[]> {
  const { rows } = await sql<DueWebhook>`
    select webhooks.id, webhooks.subscription_id as "subscriptionId", failures > 0 as "isFailing"
    from (${WAITED_FOR}) as waited join webhooks on webhooks.id = waited.id
    join subscriptions on subscriptions.id = webhooks.subscription_id
    where ${isOpen(now)} and ${mayTake(instance, now)} and ${isDue(now, [])}
    limit ${DUE_MAX}`.execute(db);
  return rows;
}

const mayTake = (instance: string, now: Date) =>
  sql`(lease_until is null or lease_until <= ${now}::timestamptz or lease_instance = ${instance})`;

/** The webhooks with waiting deliveries: one probe of the index for each, however many deliveries it has. */
export const WAITED_FOR = sql`
  with recursive waited (id) as (
    (select webhook_id from webhook_deliveries where state = 'waiting' order by webhook_id limit 1)
    union all
    select (select webhook_id from webhook_deliveries where state = 'waiting' and webhook_id > waited.id
      order by webhook_id limit 1)
    from waited where waited.id is not null
  ) select id from waited where id is not null`;

/** An expired subscription gets nothing: its deliveries wait for its renewal. */
const isOpen = (now: Date) => sql`webhooks.enabled and subscriptions.expires_at > ${now}::timestamptz
  and (paused_until is null or paused_until <= ${now}::timestamptz)`;

/** A scalar, and in the order of the index: the planner cannot make a join of it that reads the deliveries of all webhooks. */
const isDue = (now: Date, sending: readonly number[]) => sql`(
  select true from webhook_deliveries as delivery where delivery.webhook_id = webhooks.id and delivery.state = 'waiting'
    and delivery.next_at <= ${now}::timestamptz and delivery.id <> all(${sending}::bigint[])
  order by delivery.webhook_id, delivery.place limit 1)`;

export interface QueuedDelivery {
  id: number;
  webhookId: string;
  subscriptionId: string;
  /** The last attempt of the webhook failed. */
  isFailing: boolean;
  eventId: string;
  type: WebhookEvent;
  occurredAt: Date;
  /** Earlier ones. */
  attempts: number;
  claim: boolean;
  /** Version of the webhook when this was read. */
  version: number;
  target: WebhookTarget;
  /** One of both. */
  text: MessageRow | undefined;
  call: QueuedCall | undefined;
}

type Row = Record<string, unknown> & {
  id: number;
  webhook_id: string;
  subscription_id: string;
  failures: number;
  event_id: string;
  type: WebhookEvent;
  occurred_at: Date;
  attempts: number;
  message_status: OutboundStatus | null;
  claim: boolean;
  version: number;
  url: string;
  secret: string;
  previous_secret: string | null;
  previous_until: Date | null;
};

interface LeaseHolder {
  instance: string;
  now: Date;
  leaseMs: number;
}

/** Takes or keeps the queue of a webhook, and returns its next delivery. Undefined if there is none, or the queue is not free. */
export async function nextDelivery(
  db: Database,
  { sending, webhookId, ...holder }: LeaseHolder & { webhookId: string; sending: readonly number[] },
): Promise<QueuedDelivery | undefined> {
  const [delivery] = await take(db, sql`webhooks.id = ${webhookId}`, { ...holder, sending });
  return delivery;
}

/** Takes the free queues of these subscriptions' webhooks, but for those of `running`, and returns the next delivery of each. */
export function firstDeliveries(
  db: Database,
  {
    running,
    subscriptionIds,
    ...holder
  }: LeaseHolder & { subscriptionIds: readonly string[]; running: readonly string[] },
): Promise<QueuedDelivery[]> {
  const which = sql`webhooks.subscription_id = ${anyOf(subscriptionIds)} and webhooks.id <> all(${running}::text[])`;
  return take(db, which, { ...holder, sending: [] });
}

async function take(
  db: Database,
  which: RawBuilder<unknown>,
  { instance, leaseMs, now, sending }: LeaseHolder & { sending: readonly number[] },
): Promise<QueuedDelivery[]> {
  const { rows } = await sql<Row>`
    with queue as (
      update webhooks set lease_instance = ${instance}, lease_until = ${new Date(now.getTime() + leaseMs)}::timestamptz
      from subscriptions
      where ${which} and subscriptions.id = webhooks.subscription_id and ${isOpen(now)}
        and ${mayTake(instance, now)} and ${isDue(now, sending)}
      returning webhooks.id, webhooks.subscription_id, url, claim, version, failures, secret, previous_secret, previous_until
    )
    select queue.id as webhook_id, queue.subscription_id, queue.url, queue.claim, queue.version, queue.failures, queue.secret, queue.previous_secret,
      queue.previous_until, delivery.id, delivery.event_id, delivery.type, delivery.occurred_at, delivery.attempts,
      delivery.message_status, ${aliased('messages', MESSAGE_COLUMNS)}, ${aliased('calls', CALL_COLUMNS)}
    from queue
    join lateral (
      select * from webhook_deliveries where webhook_id = queue.id and state = 'waiting' and next_at <= ${now}::timestamptz
        and webhook_deliveries.id <> all(${sending}::bigint[])
      order by webhook_id, place limit 1
    ) as delivery on true
    left join messages on messages.id = delivery.message_id
    left join calls on calls.id = delivery.call_id`.execute(db);
  return rows.map((row) => toDelivery(row, now));
}

const aliased = (table: string, columns: readonly string[]) =>
  sql.join(
    columns.map((column) => sql`${sql.ref(`${table}.${column}`)} as ${sql.ref(`${table}_${column}`)}`),
  );

function toDelivery(row: Row, now: Date): QueuedDelivery {
  const part = <T>(table: string, columns: readonly string[]): T | undefined =>
    row[`${table}_id`] === null
      ? undefined
      : (Object.fromEntries(columns.map((column) => [column, row[`${table}_${column}`]])) as T);
  const text = part<MessageRow>('messages', MESSAGE_COLUMNS);
  return {
    id: row.id,
    webhookId: row.webhook_id,
    subscriptionId: row.subscription_id,
    isFailing: row.failures > 0,
    eventId: row.event_id,
    type: row.type,
    occurredAt: row.occurred_at,
    attempts: row.attempts,
    claim: row.claim,
    version: row.version,
    target: targetOf(row, now),
    // The status may have changed since the event.
    text: text && row.message_status !== null ? { ...text, status: row.message_status } : text,
    call: part<QueuedCall>('calls', CALL_COLUMNS),
  };
}

/** Gives the queue back, so that any instance may take it. */
export async function releaseQueue(db: Database, webhookId: string, instance: string): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ lease_instance: null, lease_until: null })
    .where('id', '=', webhookId)
    .where('lease_instance', '=', instance)
    .execute();
}

/** The text of a delivery counts as claimed. False if it was claimed before, or deleted, or the webhook claims no more. */
export async function claimDelivered(
  db: Database,
  messageId: number,
  webhook: WebhookVersion,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('messages')
    .set({ delivered_at: now })
    .where('id', '=', messageId)
    .where('direction', '=', 'received')
    .where('delivered_at', 'is', null)
    .where(isUnchanged(webhook, sql`webhooks.claim`))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

interface AttemptRecord {
  id: number;
  webhookId: string;
  /** Version of the webhook when the request began. */
  version: number;
  now: Date;
  status: number | null;
}

/** Records that the receiver has it. */
export async function recordDelivered(
  db: Database,
  { id, isFailing, webhookId, version, now, status }: AttemptRecord & { isFailing: boolean },
): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set(({ eb }) => ({
      state: 'delivered',
      attempts: eb('attempts', '+', 1),
      last_at: now,
      status,
      error: null,
    }))
    .where('id', '=', id)
    .where(isUnchanged({ id: webhookId, version }))
    .execute();
  if (!isFailing) return;
  // A statement of its own: one that locks two rows could wait for another that locks them in the other order.
  await ofVersion(db, { id: webhookId, version })
    .set({ failures: 0, failing_since: null, last_error: null, paused_until: null })
    .where('failures', '>', 0)
    .execute();
}

interface FailedAttempt extends AttemptRecord {
  error: string;
  /** When this delivery is retried; null for never. */
  retryAt: Date | null;
}

/**
 * Records a failed attempt. Returns how many of the webhook have failed in a row, and since when. Undefined if the webhook was changed since
 * the request began, or is gone: the attempt counts for nothing, and its delivery still waits.
 */
export async function recordFailed(
  db: Database,
  { id, webhookId, version, now, status, error, retryAt }: FailedAttempt,
): Promise<{ failures: number; failingSince: Date } | undefined> {
  const row = await ofVersion(db, { id: webhookId, version })
    .set(({ eb }) => ({
      failures: eb('failures', '+', 1),
      failing_since: sql<Date>`coalesce(failing_since, ${now}::timestamptz)`,
      last_error: error,
    }))
    .returning(['failures', 'failing_since'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  await db
    .updateTable('webhook_deliveries')
    .set(({ eb }) => ({
      state: retryAt === null ? 'failed' : 'waiting',
      attempts: eb('attempts', '+', 1),
      ...(retryAt === null ? {} : { next_at: retryAt }),
      last_at: now,
      status,
      error,
    }))
    .where('id', '=', id)
    // By the id alone, the planner may read what waits for all webhooks.
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'waiting')
    .execute();
  return { failures: row.failures, failingSince: row.failing_since ?? now };
}

interface WebhookVersion {
  id: string;
  version: number;
}

/** No attempt for this webhook before `until`. */
export async function pauseWebhook(db: Database, webhook: WebhookVersion, until: Date): Promise<void> {
  await ofVersion(db, webhook).set({ paused_until: until }).execute();
}

/** Stops a webhook. Its deliveries stay, for the case that its holder enables it again. False if it was changed, or is stopped already. */
export async function disableWebhook(
  db: Database,
  webhook: WebhookVersion,
  reason: string,
): Promise<boolean> {
  const { numUpdatedRows } = await ofVersion(db, webhook)
    .set({ enabled: false, disabled_reason: reason })
    .where('enabled', '=', true)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The holder has neither changed nor deleted it since the request began: otherwise the answer counts for nothing. */
const isUnchanged = ({ id, version }: WebhookVersion, and = sql`true`) =>
  sql<boolean>`exists (select from webhooks where webhooks.id = ${id} and webhooks.version = ${version} and ${and})`;

const ofVersion = (db: Database, { id, version }: WebhookVersion) =>
  db.updateTable('webhooks').where('id', '=', id).where('version', '=', version);
