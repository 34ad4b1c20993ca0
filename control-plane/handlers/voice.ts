// POST /voice/dial, POST /voice/hangup, GET /voice/calls, and the permission to watch a number.
import type { AnswerOf, BodyOf, OPERATION, QueryOf } from '#shared/api/operations.ts';
import { OWN_NUMBER } from '#shared/api/requests.ts';
import type { Destinations } from '#shared/destination-list.ts';
import { isE164 } from '#shared/identities.ts';
import { checkDestination, suggestionOf } from '../domain/destination-policy.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import { shownAnswerer } from '../hearing/answered-by.ts';
import type { Database } from '../store/database/database.ts';
import { isNumberKnown } from '../store/fleet/numbers.ts';
import { type ListedCall, listCalls } from '../store/messages/call-list.ts';
import { type DialParts, dial } from '../voice/dial.ts';
import { hangUp } from '../voice/hang-up.ts';
import { decodeCursor, pageOf } from './history-cursor.ts';

export interface VoiceParts extends DialParts {
  destinations: Destinations;
  /** The URL of a call's stream. */
  streamUrl: (callId: string) => string;
}

/** `signal`: aborted when the client no longer waits for the answer. */
export async function dialCall(
  parts: VoiceParts,
  subscription: Subscription,
  request: BodyOf<typeof OPERATION.dial>,
  signal: AbortSignal,
): Promise<AnswerOf<typeof OPERATION.dial>> {
  const to = checkDestination(request.to, parts.destinations);
  await checkOwnNumber(parts, subscription, request.phone_number, `${OWN_NUMBER}.`);
  const callId = await dial(parts, subscription, {
    to,
    detectsMachine: request.detect_machine === true,
    signal,
  });
  return {
    call_id: callId,
    stream_url: parts.streamUrl(callId),
    direction: 'outbound',
    caller: to,
    phone_number: subscription.number,
  };
}

/**
 * Throws `Refusal`: `forbidden` for another subscriber's number, `phone_number_not_found` for an unknown one. `hint`: a sentence for the end of the
 * message.
 */
export async function checkOwnNumber(
  { db }: { db: Database },
  subscription: Subscription,
  number: string,
  hint?: string,
): Promise<void> {
  if (number === subscription.number) return;
  if (isE164(number) && (await isNumberKnown(db, number)))
    throw new Refusal('forbidden', withHint('This number is not yours.', hint));
  throw new Refusal('phone_number_not_found', withHint('The service does not have this number.', hint), {
    details: {
      field: 'phone_number',
      ...(isE164(number) ? {} : { expected: 'E.164', ...suggestionOf(number) }),
    },
  });
}

const withHint = (message: string, hint = ''): string => `${message} ${hint}`.trimEnd();

export async function hangUpCall(
  parts: VoiceParts,
  subscription: Subscription,
  { call_id: callId }: BodyOf<typeof OPERATION.hangUp>,
): Promise<AnswerOf<typeof OPERATION.hangUp>> {
  const deviceId = await hangUp(parts, subscription, callId);
  return { call_id: callId, device_id: deviceId, status: 'hangup_sent' };
}

export async function calls(
  parts: VoiceParts,
  subscription: Subscription,
  query: QueryOf<typeof OPERATION.calls>,
): Promise<AnswerOf<typeof OPERATION.calls>> {
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
  const rows = await listCalls(parts.db, {
    subscriptionId: subscription.id,
    direction: query.direction,
    since: query.since,
    until: query.until,
    after: after && { startedAt: after.createdAt, position: after.id },
    // One more than the page, to find out whether there is another page.
    limit: query.limit + 1,
  });
  const { page, next } = pageOf(rows, query.limit, (row) => ({
    createdAt: row.started_at,
    id: row.position,
  }));
  return { calls: page.map((row) => toListed(row, subscription)), next_cursor: next };
}

function toListed(row: ListedCall, { number }: Subscription) {
  const { answered_at: answeredAt, ended_at: endedAt } = row;
  const durationMs = answeredAt && endedAt ? Math.max(0, endedAt.getTime() - answeredAt.getTime()) : 0;
  return {
    call_id: row.id,
    direction: row.direction,
    caller: row.peer,
    phone_number: row.number ?? number,
    state: row.state,
    started_at: row.started_at.toISOString(),
    answered_at: answeredAt?.toISOString() ?? null,
    ended_at: endedAt?.toISOString() ?? null,
    duration_ms: endedAt === null ? null : durationMs,
    reason: row.reason,
    cause: row.cause,
    answered_by: shownAnswerer({ answeredBy: row.answered_by, answeredAt, hasEnded: endedAt !== null }),
    audio: row.audio === null && row.stream === null ? null : { ...row.audio, ...row.stream },
  };
}
