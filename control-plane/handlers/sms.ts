// POST /sms/send, GET /sms/receive, GET and DELETE /sms/messages, DELETE /sms/messages/{id}.
import type { AnswerOf, BodyOf, OPERATION, ParamsOf, QueryOf } from '#shared/api/operations.ts';
import type { Clock } from '#shared/clock.ts';
import type { Destinations } from '#shared/destination-list.ts';
import { SEGMENT_UNITS, segmentText } from '#shared/sms/segmentation.ts';
import type { Bus } from '../bus/bus.ts';
import { Remembered } from '../bus/remembered.ts';
import { checkDestination } from '../domain/destination-policy.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import { type OutboundParts, sendSms } from '../nodes/outbound-sms.ts';
import type { Database } from '../store/database/database.ts';
import { deleteMessage, deleteMessages } from '../store/messages/message-deletion.ts';
import {
  claimReceived,
  findFilledInboxes,
  listMessages,
  type MessageRow,
  releaseReceived,
} from '../store/messages/messages.ts';
import { decodeCursor, encodeCursor } from './history-cursor.ts';

export interface SmsParts extends OutboundParts {
  destinations: Destinations;
}

export async function send(
  parts: SmsParts,
  subscription: Subscription,
  request: BodyOf<typeof OPERATION.send>,
): Promise<AnswerOf<typeof OPERATION.send>> {
  const to = checkDestination(request.to, parts.destinations);
  checkSmsLength(request.body, parts.segmentsMax);
  const sent = await sendSms(parts, subscription, { to, body: request.body });
  const warnings = sent.near.map(({ limit, max, used, windowMs }) => ({
    limit,
    used,
    max,
    window_seconds: windowMs / 1000,
  }));
  return { message_id: sent.messageId, status: sent.status, ...(warnings.length > 0 && { warnings }) };
}

export type Received = AnswerOf<typeof OPERATION.receive>;

export interface InboxClaims {
  /** Claims received messages. */
  claim(subscription: Subscription, query: QueryOf<typeof OPERATION.receive>): Promise<Received>;
  /** Undoes a claim that did not reach the client: the messages can be claimed again. */
  giveBack(subscription: Subscription, claimed: Received): Promise<void>;
  /** Returns the subscriptions that have messages to claim, stored by any instance. */
  filled(subscriptionIds: readonly string[]): Promise<string[]>;
}

/** Claims for /sms/receive. An empty inbox is not queried again until a message arrives. */
export function createInboxClaims({ db, bus, clock }: { db: Database; bus: Bus; clock: Clock }): InboxClaims {
  const empty = new Remembered<object>(bus, 'sms_received');
  return {
    async claim({ id }, { limit }) {
      if (empty.find(id) !== undefined) return { messages: [], count: 0 };
      const begun = empty.begin();
      const rows = await claimReceived(db, { subscriptionId: id, limit, now: new Date(clock.now()) });
      if (rows.length === 0) empty.keep(begun, id, id, {});
      for (const { created_at: storedAt } of rows)
        emitMetric({ kind: 'sms_claimed', seconds: Math.max(0, clock.now() - storedAt.getTime()) / 1000 });
      return { messages: rows.map(toInbound), count: rows.length };
    },
    async giveBack({ id }, { messages: claimed }) {
      await releaseReceived(db, { subscriptionId: id, ids: claimed.map((message) => message.id) });
      bus.publish({ kind: 'sms_received', subscriptionId: id });
      emitMetric({ kind: 'sms_given_back', count: claimed.length });
    },
    filled: (subscriptionIds) => findFilledInboxes(db, subscriptionIds),
  };
}

export async function messages(
  parts: SmsParts,
  subscription: Subscription,
  query: QueryOf<typeof OPERATION.messages>,
): Promise<AnswerOf<typeof OPERATION.messages>> {
  const rows = await listMessages(parts.db, {
    subscriptionId: subscription.id,
    direction: query.direction,
    since: query.since,
    until: query.until,
    after: query.cursor === undefined ? undefined : decodeCursor(query.cursor),
    // One more than the page, to find out whether there is another page.
    limit: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  const next = rows.length > query.limit && last ? encodeCursor(last.created_at, last.id) : null;
  return { messages: page.map(toHistory), next_cursor: next };
}

type Deleting = Pick<SmsParts, 'db'>;

/** Throws `Refusal` `message_not_found`, also for a message of another subscription. */
export async function deleteOne(
  { db }: Deleting,
  { id: subscriptionId }: Subscription,
  { id }: ParamsOf<typeof OPERATION.deleteMessage>,
): Promise<undefined> {
  if (await deleteMessage(db, { subscriptionId, id })) return undefined;
  throw new Refusal('message_not_found', 'There is no such message. It may have been deleted.');
}

export async function deleteAll(
  { db }: Deleting,
  { id: subscriptionId }: Subscription,
  query: QueryOf<typeof OPERATION.deleteMessages>,
): Promise<AnswerOf<typeof OPERATION.deleteMessages>> {
  const { deleted, hasMore } = await deleteMessages(db, { subscriptionId, ...query });
  return { deleted, has_more: hasMore };
}

/** Deletes the subscription's messages with these ids. */
export async function deleteSome(
  { db }: Deleting,
  { id: subscriptionId }: Subscription,
  { ids }: { ids: readonly number[] },
): Promise<{ deleted: number }> {
  let deleted = 0;
  for (const id of new Set(ids)) if (await deleteMessage(db, { subscriptionId, id })) deleted += 1;
  return { deleted };
}

function toInbound(row: MessageRow) {
  return {
    id: row.id,
    from_number: row.from_number,
    to_number: row.to_number,
    body: row.body,
    message_id: row.message_id,
    created_at: row.created_at.toISOString(),
    received_at: row.received_at?.toISOString() ?? null,
    opt_out_type: row.opt_out_type,
  };
}

function toHistory(row: MessageRow) {
  return {
    id: row.id,
    direction: row.direction,
    from_number: row.from_number,
    to_number: row.to_number,
    body: row.body,
    message_id: row.message_id,
    status: row.status,
    created_at: row.created_at.toISOString(),
    delivered_at: row.delivered_at?.toISOString() ?? null,
    opt_out_type: row.opt_out_type,
  };
}

/** Throws `Refusal` `invalid_request`, with the length, for a text that needs more than `segmentsMax` segments. */
function checkSmsLength(body: string, segmentsMax: number): void {
  const { encoding, units, segments } = segmentText(body);
  if (segments.length <= segmentsMax) return;
  const { single, concatenated } = SEGMENT_UNITS[encoding];
  const max = segmentsMax === 1 ? single : segmentsMax * concatenated;
  throw new Refusal('invalid_request', `"body" is too long: ${units} of ${max} units`, {
    details: { field: 'body', encoding, units, max_units: max },
  });
}
