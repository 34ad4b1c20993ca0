// /webhooks: the webhooks of a subscription, their deliveries, test and replay.
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { AnswerOf, BodyOf, OPERATION, QueryOf } from '#shared/api/operations.ts';
import { REPLAYED_PER_HOUR_MAX, WEBHOOKS_MAX } from '#shared/api/webhooks.ts';
import type { Base } from '../bus/base.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import { mintWebhookSecret } from '../domain/webhook-signature.ts';
import { addressNotAllowed, checkWebhookUrl } from '../domain/webhook-url.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import {
  type DeliveryRow,
  listDeliveries,
  replayOne,
  replaySince,
} from '../store/webhooks/webhook-deliveries.ts';
import {
  changeWebhook,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  rotateSecret,
  type WebhookRow,
} from '../store/webhooks/webhooks.ts';
import { isPublicAddress } from '../webhooks/agents.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { decodeCursor, pageOf } from './history-cursor.ts';

export interface WebhookParts extends Pick<Base, 'db' | 'bus' | 'clock'> {
  webhooks: Webhooks;
  webhookAllowPrivate: boolean;
}

interface ReplayParts extends WebhookParts {
  /** Limit of the deliveries that a subscriber requests, per subscription: a receiver may be a stranger. */
  replays: AmountLimit;
}

interface AmountLimit {
  /** Resolves with what `work` did; throws `Refusal` `rate_limited` if it may do none. */
  spend(key: string, wanted: number, work: (granted: number) => Promise<number>): Promise<number>;
}

const ID_BYTES = 12;

/** After a rotation the previous secret signs too. */
const PREVIOUS_SECRET_MS = 24 * 60 * 60 * 1000;

/** Retry time for a subscription with too many tests. */
const RETRY_AFTER_SECONDS = 5;

interface Named {
  id: string;
}

export async function add(
  parts: WebhookParts,
  { id: subscriptionId }: Subscription,
  { claim, description, events, url: written }: BodyOf<typeof OPERATION.addWebhook>,
): Promise<AnswerOf<typeof OPERATION.addWebhook>> {
  const url = usableUrl(parts, written);
  const secret = mintWebhookSecret();
  const id = `wh_${randomBytes(ID_BYTES).toString('base64url')}`;
  const now = new Date(parts.clock.now());
  const webhook = { id, subscriptionId, url, events, claim, description, secret, now };
  if (!(await insertWebhook(parts.db, webhook, WEBHOOKS_MAX)))
    throw new Refusal(
      'webhook_limit_reached',
      `A number can have ${WEBHOOKS_MAX} webhooks. Delete or change one.`,
    );
  return { ...toWebhook(await found(parts, subscriptionId, id)), secret };
}

export async function list(
  { db }: WebhookParts,
  { id }: Subscription,
): Promise<AnswerOf<typeof OPERATION.listWebhooks>> {
  return { webhooks: (await listWebhooks(db, id)).map(toWebhook) };
}

export async function change(
  parts: WebhookParts,
  { id: subscriptionId }: Subscription,
  { id, change: asked }: Named & { change: BodyOf<typeof OPERATION.changeWebhook> },
): Promise<AnswerOf<typeof OPERATION.changeWebhook>> {
  const url = asked.url === undefined ? undefined : usableUrl(parts, asked.url);
  if (!(await changeWebhook(parts.db, { subscriptionId, id }, { ...asked, url }))) throw unknownWebhook();
  parts.bus.publish({ kind: 'webhook_queued', subscriptionId });
  return toWebhook(await found(parts, subscriptionId, id));
}

export async function remove(
  { db }: WebhookParts,
  { id: subscriptionId }: Subscription,
  { id }: Named,
): Promise<undefined> {
  if (!(await deleteWebhook(db, subscriptionId, id))) throw unknownWebhook();
  return undefined;
}

export async function rotate(
  { clock, db }: WebhookParts,
  { id: subscriptionId }: Subscription,
  { id }: Named,
): Promise<AnswerOf<typeof OPERATION.rotateWebhook>> {
  const secret = mintWebhookSecret();
  const previousUntil = new Date(clock.now() + PREVIOUS_SECRET_MS);
  if (!(await rotateSecret(db, { subscriptionId, id }, { secret, previousUntil }))) throw unknownWebhook();
  return { secret, previous_valid_until: previousUntil.toISOString() };
}

export async function test(
  { db, replays, webhooks }: ReplayParts,
  { id: subscriptionId }: Subscription,
  { id }: Named,
): Promise<AnswerOf<typeof OPERATION.testWebhook>> {
  await found({ db }, subscriptionId, id);
  // Before the test, for which others must not wait.
  await replays.spend(subscriptionId, 1, async () => 1);
  const result = await webhooks.test(subscriptionId, id);
  if (result === undefined) throw unknownWebhook();
  if (result === 'busy') {
    emitMetric({ kind: 'rate_limited', limit: 'webhook_tests' });
    throw new Refusal(
      'rate_limited',
      'The service cannot send a test now: other tests, or slow receivers, are under way.',
      {
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      },
    );
  }
  const { durationMs, error, outcome, status } = result;
  return { delivered: outcome === 'delivered', status, error, duration_ms: durationMs };
}

export async function deliveries(
  parts: WebhookParts,
  { id: subscriptionId }: Subscription,
  { id, query }: Named & { query: QueryOf<typeof OPERATION.listDeliveries> },
): Promise<AnswerOf<typeof OPERATION.listDeliveries>> {
  const { cursor, limit, state } = query;
  const before = cursor === undefined ? undefined : decodeCursor(cursor).id;
  await found(parts, subscriptionId, id);
  // One more than the page, to find out whether there is another page.
  const rows = await listDeliveries(parts.db, { webhookId: id, state, before, limit: limit + 1 });
  const { page, next } = pageOf(rows, limit, (row) => ({ createdAt: row.occurred_at, id: row.id }));
  return { deliveries: page.map(toDelivery), next_cursor: next };
}

export async function replay(
  parts: ReplayParts,
  { id: subscriptionId }: Subscription,
  { id, asked }: Named & { asked: BodyOf<typeof OPERATION.replayWebhook> },
): Promise<AnswerOf<typeof OPERATION.replayWebhook>> {
  const { bus, clock, db, replays } = parts;
  await found(parts, subscriptionId, id);
  const { delivery_id: deliveryId, since } = asked;
  let queued = 0;
  if (since !== undefined)
    queued = await replays.spend(subscriptionId, REPLAYED_PER_HOUR_MAX, (max) =>
      replaySince(db, { webhookId: id, since, now: new Date(clock.now()), max }),
    );
  else if (deliveryId !== undefined)
    queued = await replays.spend(subscriptionId, 1, async () => {
      if (await replayOne(db, id, deliveryId)) return 1;
      throw new Refusal('webhook_delivery_not_found', 'The webhook has no such delivery.');
    });
  bus.publish({ kind: 'webhook_queued', subscriptionId });
  return { queued };
}

/** Throws `Refusal` `webhook_url_not_allowed`. A name is resolved when an event is sent. */
function usableUrl({ webhookAllowPrivate: allowsPrivate }: WebhookParts, written: string): string {
  const url = checkWebhookUrl(written, { allowsHttp: allowsPrivate });
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (!allowsPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw addressNotAllowed();
  return url;
}

async function found(
  { db }: Pick<WebhookParts, 'db'>,
  subscriptionId: string,
  id: string,
): Promise<WebhookRow> {
  const row = await findWebhook(db, subscriptionId, id);
  if (row === undefined) throw unknownWebhook();
  return row;
}

/** Also for a webhook of another subscription. */
const unknownWebhook = (): Refusal => new Refusal('webhook_not_found', 'You have no such webhook.');

function toWebhook({ created_at: createdAt, failing_since: failingSince, ...row }: WebhookRow) {
  return {
    ...row,
    created_at: createdAt.toISOString(),
    failing_since: failingSince?.toISOString() ?? null,
  };
}

function toDelivery(row: DeliveryRow) {
  return {
    id: row.id,
    event_id: row.event_id,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    status: row.status,
    error: row.error,
    occurred_at: row.occurred_at.toISOString(),
    last_attempt_at: row.last_at?.toISOString() ?? null,
    next_attempt_at: row.next_at?.toISOString() ?? null,
  };
}
