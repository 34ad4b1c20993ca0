// POST /sms/send, GET /sms/receive, GET and DELETE /sms/messages, DELETE /sms/messages/{id}.
import { LRUCache } from 'lru-cache';
import type { AnswerOf, BodyOf, OPERATION, ParamsOf, QueryOf } from '#shared/api/operations.ts';
import type { Clock } from '#shared/clock.ts';
import type { Destinations } from '#shared/destination-list.ts';
import { numberedTexts } from '#shared/sms/numbered-texts.ts';
import { SEGMENT_UNITS, segmentText, ucs2CharactersOf } from '#shared/sms/segmentation.ts';
import { transliterate } from '#shared/sms/transliteration.ts';
import type { Bus } from '../bus/bus.ts';
import { upTo } from '../bus/cache-size.ts';
import { Remembered } from '../bus/remembered.ts';
import { checkDestination } from '../domain/destination-policy.ts';
import { oneTimeCodeOf } from '../domain/one-time-code.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import { type OutboundParts, sendSms } from '../nodes/outbound-sms.ts';
import type { Database } from '../store/database/database.ts';
import {
  claimOne,
  claimReceived,
  findFilledInboxes,
  findUndelivered,
  releaseReceived,
} from '../store/messages/message-claims.ts';
import { deleteMessage, deleteMessages } from '../store/messages/message-deletion.ts';
import { listMessages, type MessageRow } from '../store/messages/messages.ts';
import { decodeCursor, pageOf } from './history-cursor.ts';

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
  const warnings = sent.nearLimits.map(({ limit, max, used, windowMs }) => ({
    limit,
    used,
    max,
    window_seconds: windowMs / 1000,
  }));
  return { message_id: sent.messageId, status: sent.status, ...(warnings.length > 0 && { warnings }) };
}

/** The newest texts that are searched for a code: a wait does it once a second. */
const CODE_SEARCH_MAX = 100;

const CODELESS_MAX = 20_000;

export type Received = AnswerOf<typeof OPERATION.receive>;

export interface InboxClaims {
  /** Claims received messages. */
  claim(subscription: Subscription, query: QueryOf<typeof OPERATION.receive>): Promise<Received>;
  /** Claims the newest received message with a one-time code, and no other. */
  claimCode(subscription: Subscription, wanted: { from: string | undefined; since: Date }): Promise<Received>;
  /** Undoes a claim that did not reach the client: the messages can be claimed again. */
  giveBack(subscription: Subscription, claimed: Received): Promise<void>;
  /** Returns the subscriptions that have messages to claim, stored by any instance. */
  filled(subscriptionIds: readonly string[]): Promise<string[]>;
}

/** Claims for /sms/receive. An empty inbox is not queried again until a message arrives. */
export function createInboxClaims({ db, bus, clock }: { db: Database; bus: Bus; clock: Clock }): InboxClaims {
  const empty = new Remembered<object>(bus, 'sms_received');
  /** Texts that were searched in vain: each wait meets them again once a second. */
  const codeless = new LRUCache<number, true>(upTo(CODELESS_MAX));
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
    async claimCode({ id: subscriptionId }, { from, since }) {
      const rows = await findUndelivered(db, { subscriptionId, since, from, limit: CODE_SEARCH_MAX });
      for (const row of rows) {
        if (codeless.has(row.id)) continue;
        const message = toInbound(row);
        if (message.code === null) {
          codeless.set(row.id, true);
          continue;
        }
        const now = new Date(clock.now());
        if (!(await claimOne(db, { subscriptionId, id: row.id, now }))) continue;
        emitMetric({
          kind: 'sms_claimed',
          seconds: Math.max(0, clock.now() - row.created_at.getTime()) / 1000,
        });
        return { messages: [message], count: 1 };
      }
      return { messages: [], count: 0 };
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
  const { page, next } = pageOf(rows, query.limit, (row) => ({ createdAt: row.created_at, id: row.id }));
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

/** For the tool split_text. Throws `Refusal` `invalid_request` for a text that needs too many. */
export function split({ body, transliterate: isReplacing }: { body: string; transliterate: boolean }) {
  const { text, replaced } = isReplacing ? transliterate(body) : { text: body, replaced: [] };
  try {
    const { encoding, texts } = numberedTexts(text);
    return { encoding, messages: [...texts], replaced };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal('invalid_request', `"body" is ${error.message}`, {
      details: { field: 'body' },
    });
  }
}

export function toInbound(row: MessageRow) {
  return {
    id: row.id,
    from_number: row.from_number,
    to_number: row.to_number,
    body: row.body,
    message_id: row.message_id,
    created_at: row.created_at.toISOString(),
    received_at: row.received_at?.toISOString() ?? null,
    opt_out_type: row.opt_out_type,
    ...codeFieldsOf(row),
    ...kindFieldsOf(row),
  };
}

function kindFieldsOf({ mms }: MessageRow) {
  if (mms === null) return { kind: 'text' as const, mms: null };
  const { size_bytes, expires_at } = mms;
  return { kind: 'mms_notice' as const, mms: { size_bytes, expires_at: utcOf(expires_at) } };
}

const utcOf = (time: string | null): string | null => (time === null ? null : new Date(time).toISOString());

/** A sent text has no code. Neither has one with a missing part: the part may hold the code's last digits. */
function codeFieldsOf({ body, direction, mms, partial }: MessageRow) {
  const found = direction === 'received' && !partial && mms === null ? oneTimeCodeOf(body) : undefined;
  return {
    code: found?.code ?? null,
    code_origin: found?.origin ?? null,
    code_embedded_origin: found?.embeddedOrigin ?? null,
  };
}

export function toHistory(row: MessageRow) {
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
    ...codeFieldsOf(row),
    ...kindFieldsOf(row),
  };
}

/** Enough to see what is wrong, such as a curly quote. */
const FORCING_CHARACTERS_MAX = 10;

const SHOWN_MAX = 3;
/** Characters that a person sees in the middle of a sentence. */
const VISIBLE = /^[\p{Letter}\p{Punctuation}\p{Symbol}]$/u;

const shownCharacters = (characters: readonly string[]): string =>
  characters.length <= SHOWN_MAX && characters.every((character) => VISIBLE.test(character))
    ? characters.join(' ')
    : 'the characters in "ucs2_characters"';

/** Throws `Refusal` `invalid_request`, with the length, for a text that needs more than `segmentsMax` segments. */
function checkSmsLength(body: string, segmentsMax: number): void {
  const { encoding, units, segments } = segmentText(body);
  if (segments.length <= segmentsMax) return;
  const { single, concatenated } = SEGMENT_UNITS[encoding];
  const max = segmentsMax === 1 ? single : segmentsMax * concatenated;
  const forcing = ucs2CharactersOf(body, FORCING_CHARACTERS_MAX);
  const gsm7Max =
    segmentsMax === 1 ? SEGMENT_UNITS.gsm7.single : segmentsMax * SEGMENT_UNITS.gsm7.concatenated;
  const without =
    encoding === 'gsm7' ? '' : ` Replace ${shownCharacters(forcing)}, and up to ${gsm7Max} are allowed.`;
  throw new Refusal(
    'invalid_request',
    `"body" is too long: ${units} units, and at most ${max} are allowed.${without} sendLong of the library and the tool split_text make several texts of it.`,
    {
      details: {
        field: 'body',
        expected: `at most ${max} units`,
        encoding,
        units,
        max_units: max,
        segments: segments.length,
        segments_max: segmentsMax,
        ...(encoding === 'ucs2' && { ucs2_characters: forcing }),
      },
    },
  );
}
